import Bytes
import Glibc
import ServerAnswers

/// A folder of a WebDAV server, whose listings contain all attributes (RFC 4918).
struct DAVFolder: RemoteInterface {
  /// The path of the folder on the server, which ends in a slash.
  let root: [UInt8]

  init(_ address: ServerAddress) { root = address.folderPath }

  var lifetime: UInt64 { WebServer.lifetime }
  var longestValidity: UInt64 { WebServer.longestValidity }
  var advice: String { WebServer.advice }

  /// Returns a request for the properties of an item, and of its entries for a `depth` of 1.
  private static func properties(of path: String, depth: Int) -> HTTPExchange {
    var exchange = HTTPExchange(path, headers: ["Depth: \(depth)", "Content-Type: application/xml; charset=utf-8"])
    (exchange.method, exchange.content) = ("PROPFIND", FolderProperties.request)
    return exchange
  }

  private static func folder(_ path: [UInt8]) -> String {
    path.count == 1 ? "/" : WebServer.encoded(path) + "/"
  }

  private func properties(_ answer: RepeatedRequest.Answer, at target: String) throws(Fault) -> FolderProperties {
    guard answer.head.status == 207, !answer.head.isEncoded else {
      throw Fault(.system(EIO), "the server does not answer PROPFIND of WebDAV")
    }
    return try FolderProperties(answer.body, at: root.dropLast() + target.utf8)
  }

  // The path does not tell whether the item is a folder, and servers find one without the slash, too.
  func item(at path: [UInt8]) -> HTTPExchange {
    Self.properties(of: path.count == 1 ? "/" : WebServer.encoded(path), depth: 0)
  }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    try properties(answer, at: WebServer.encoded(path)).folder
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange {
    Self.properties(of: Self.folder(path), depth: 1)
  }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    let found = try properties(answer, at: Self.folder(path))
    guard found.folder?.kind == .folder else { throw Fault(.system(ENOTDIR)) }
    return (found.entries, nil)
  }

  func file(at path: [UInt8]) -> HTTPExchange { HTTPExchange(WebServer.encoded(path)) }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? { WebServer.fault(answer, of: address) }
}
