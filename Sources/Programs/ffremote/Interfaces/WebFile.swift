import Bytes
import Glibc
import ServerAnswers
import Text

/// A single file of a web server, as the only entry of the root.
struct WebFile: RemoteInterface {
  let name: FileName

  var lifetime: UInt64 { WebServer.lifetime }
  var advice: String { WebServer.advice }
  var takesStartOfItems: Bool { true }
  var file: FileName? { name }

  func known(at path: [UInt8]) -> ServerItem? { path.count == 1 ? WebServer.folder : nil }

  /// The path of the file.
  var path: [UInt8] { [UInt8(ascii: "/")] + name.bytes }

  // HEAD would not be permitted by a signed URL.
  func item(at path: [UInt8]) -> HTTPExchange { HTTPExchange("", headers: ["Range: bytes=0-0"]) }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    guard path == self.path else { return nil }
    var item = try WebServer.item(answer)
    item.name = name
    return item
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange { item(at: path) }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    (try item(answer, at: self.path).map { [$0] } ?? [], nil)
  }

  func file(at path: [UInt8]) -> HTTPExchange { HTTPExchange("") }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? { WebServer.fault(answer, of: address) }
}

/// The properties that all web servers have in common.
enum WebServer {
  static let lifetime: UInt64 = 5_000_000_000
  static let longestValidity: UInt64 = 60_000_000_000
  static let advice = "check the address and the network"

  static var folder: ServerItem {
    var item = ServerItem()
    item.kind = .folder
    return item
  }

  /// Returns a path as a part of a URL.
  static func encoded(_ path: [UInt8]) -> String { Percent.encoded(path, keepingSlash: true) }

  /// Returns the file of a successful response to a request for some of its bytes.
  static func item(_ answer: RepeatedRequest.Answer) throws(Fault) -> ServerItem {
    let head = answer.head
    var item = ServerItem()
    guard !head.isEncoded, let size = head.isOfNothing ? 0 : head.part?.size ?? head.length else {
      throw Fault(.system(EIO), "the server does not report the size of the file")
    }
    item.size = .exact(size)
    item.tag = head.version
    item.modified = Timestamp(seconds: head.modified ?? 0)
    return item
  }

  static func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? {
    switch answer.head.status {
    case 401, 407:
      return Fault(.system(EACCES), "the server \(address) requires a password (put it into ~/.netrc)")
    case 403: return Fault(.system(EACCES), "the server \(address) refuses access")
    case 410: return Fault(.system(ENOENT))
    default: return nil
    }
  }
}
