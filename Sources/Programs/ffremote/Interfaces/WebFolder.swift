import Bytes
import Glibc
import ServerAnswers
import Text

/// A folder of a web server that lists it as pages. Each file's attributes are a request of their own.
struct WebFolder: RemoteInterface {
  /// The path of the folder on the server, which ends in a slash.
  let root: [UInt8]

  init(_ address: ServerAddress) { root = address.folderPath }

  var lifetime: UInt64 { WebServer.lifetime }
  var advice: String { WebServer.advice }
  var takesStartOfItems: Bool { true }
  var listsAttributes: Bool { false }

  func known(at path: [UInt8]) -> ServerItem? { path.count == 1 ? WebServer.folder : nil }

  func item(at path: [UInt8]) -> HTTPExchange { HTTPExchange(WebServer.encoded(path), headers: ["Range: bytes=0-0"]) }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    try WebServer.item(answer)
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange {
    HTTPExchange(path.count == 1 ? "/" : WebServer.encoded(path) + "/")
  }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    guard answer.head.status == 200, !answer.head.isEncoded, FolderPage.isListing(answer.body) else {
      throw Fault(.system(EIO), "the server does not list the folder")
    }
    let inner = path.count == 1 ? [] : Array((WebServer.encoded(path).dropFirst() + "/").utf8)
    return (try FolderPage.entries(of: answer.body, at: root + inner), nil)
  }

  func file(at path: [UInt8]) -> HTTPExchange { HTTPExchange(WebServer.encoded(path)) }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? { WebServer.fault(answer, of: address) }
}
