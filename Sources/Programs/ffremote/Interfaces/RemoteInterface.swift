import Bytes
import Glibc
import ServerAnswers
import Text

/// A kind of server: the requests for its directories and files, and the meaning of its responses.
///
/// Paths start with `/`, which is the root.
protocol RemoteInterface: Sendable {
  /// The time for which a response is valid, in nanoseconds.
  var lifetime: UInt64 { get }
  /// The maximum time for which a listing is valid that took long, in nanoseconds.
  var longestValidity: UInt64 { get }
  /// The advice for a server that cannot be reached.
  var advice: String { get }
  /// Whether the first bytes of the response for an item suffice.
  var takesStartOfItems: Bool { get }
  /// Whether listings contain the attributes of all entries.
  var listsAttributes: Bool { get }
  /// Whether a directory has no entries but the listed ones.
  var listsAll: Bool { get }

  /// The name of the only file. Nil if the root is a directory of the server.
  var file: FileName? { get }

  /// Returns an item that is known without a request. Returns `nil` for most items.
  func known(at path: [UInt8]) -> ServerItem?

  /// Returns the request for the attributes of an item.
  func item(at path: [UInt8]) -> HTTPExchange
  /// Returns the item of a successful response. Returns `nil` if there is none.
  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem?

  /// Returns the request for a listing, or for its next page after `mark`.
  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange
  /// Returns the entries in a successful response, and the mark of the next page if there is one.
  func listing(_ answer: RepeatedRequest.Answer, of path: [UInt8]) throws(Fault) -> (items: [ServerItem], next: String?)

  /// Returns the request for a file's bytes, to which callers add a range.
  func file(at path: [UInt8]) -> HTTPExchange

  /// Returns the header that prevents a part of another version than that of a tag from being sent.
  func condition(_ tag: String) -> String

  /// Returns the fault for an unsuccessful response. Returns `nil` if the kind of server does not matter.
  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault?
}

extension RemoteInterface {
  var takesStartOfItems: Bool { false }
  var listsAttributes: Bool { true }
  var listsAll: Bool { true }
  var file: FileName? { nil }
  var longestValidity: UInt64 { 5_000_000_000 }
  func condition(_ tag: String) -> String { "If-Range: \(tag)" }
  func known(at path: [UInt8]) -> ServerItem? { nil }
}

/// The API of `ffmount serve`.
struct ServerInterface: RemoteInterface {
  var lifetime: UInt64 { 500_000_000 }
  var advice: String { "is ffmount serve running there?" }
  // Others are views by name.
  var listsAll: Bool { false }

  private static func target(_ call: String, _ path: [UInt8]) -> String {
    "/api/\(call)?path=" + Percent.encoded(path, keepingSlash: true)
  }

  /// The size of files whose bytes arrive with their attributes, so that opening them needs no request.
  private static let smallFile = 16 << 10

  func item(at path: [UInt8]) -> HTTPExchange {
    HTTPExchange(Self.target("stat", path) + "&bytes=\(Self.smallFile)")
  }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    try ServerAnswer.item(answer.body, named: "")
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange { HTTPExchange(Self.target("list", path)) }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    (try ServerAnswer.listing(answer.body), nil)
  }

  func file(at path: [UInt8]) -> HTTPExchange { HTTPExchange(Self.target("file", path)) }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? {
    let said = ServerAnswer.sentence(answer.body)
    switch answer.head.status {
    case 401:
      let advice = "give it with -o token_file=FILE, and remount"
      return Fault(.system(EACCES), "the server \(address) requires another token (\(advice))")
    case 403: return Fault(.system(EACCES), said ?? "")
    case 422: return Fault(.damaged, said ?? "the server cannot read it")
    case 421:
      return Fault(
        .system(EIO), "the server refuses the name in \(address) (start it with --name, or use its address)")
    case 507: return Fault(.system(ENOSPC), "the server has no room: \(said ?? "its disk is full")")
    default: return nil
    }
  }
}
