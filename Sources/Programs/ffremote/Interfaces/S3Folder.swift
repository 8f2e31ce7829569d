import Bytes
import Glibc
import ServerAnswers
import Text

/// The objects of a bucket of S3 whose keys begin with a prefix, as a tree.
struct S3Folder: RemoteInterface {
  /// The prefix, which is empty or ends in a slash.
  let prefix: [UInt8]
  let access: S3Access

  var lifetime: UInt64 { WebServer.lifetime }
  var longestValidity: UInt64 { WebServer.longestValidity }
  var advice: String { WebServer.advice }
  var takesStartOfItems: Bool { true }
  var listsDeeply: Bool { true }

  func known(at path: [UInt8]) -> ServerItem? { path.count == 1 ? WebServer.folder : nil }

  func item(at path: [UInt8]) -> HTTPExchange {
    if path.count == 1 { return listing(of: path, after: nil) }
    var exchange = file(at: path)
    exchange.headers.append("Range: bytes=0-0")
    return exchange
  }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    try WebServer.item(answer)
  }

  private func prefix(of path: [UInt8]) -> [UInt8] {
    path.count == 1 ? prefix : prefix + path.dropFirst() + [UInt8(ascii: "/")]
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange {
    // In the order of the signature.
    var words = ["delimiter=%2F", "encoding-type=url", "list-type=2"]
    if let mark { words.insert("continuation-token=" + Percent.encoded(mark.utf8), at: 0) }
    words.append("prefix=" + Percent.encoded(prefix(of: path)))
    return HTTPExchange("/?" + words.joined(separator: "&"))
  }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    let page = try page(answer)
    return (page.entries(of: prefix(of: path)), page.next)
  }

  private func page(_ answer: RepeatedRequest.Answer) throws(Fault) -> BucketListing {
    guard !answer.head.isEncoded else { throw Fault(.system(EIO), "the server's listing is compressed") }
    return try BucketListing(answer.body)
  }

  func walk(_ page: FolderWalk.Page) -> HTTPExchange? {
    // In the order of the signature.
    var words = ["encoding-type=url", "list-type=2", "prefix=" + Percent.encoded(prefix)]
    if let mark = page.mark { words.insert("continuation-token=" + Percent.encoded(mark.utf8), at: 0) }
    words.append("start-after=" + Percent.encoded(prefix + page.start))
    return HTTPExchange("/?" + words.joined(separator: "&"))
  }

  func walk(_ answer: RepeatedRequest.Answer) throws(Fault) -> (
    files: [(key: [UInt8], item: ServerItem)], next: String?
  ) {
    let page = try page(answer)
    let files = page.objects.filter { $0.key.starts(with: prefix) }
    return (files.map { (Array($0.key.dropFirst(prefix.count)), $0.item) }, page.next)
  }

  /// Returns whether any key begins with the prefix.
  func hasEntries(_ answer: RepeatedRequest.Answer) -> Bool {
    (try? BucketListing(answer.body)).map { !$0.objects.isEmpty || !$0.prefixes.isEmpty } ?? false
  }

  func file(at path: [UInt8]) -> HTTPExchange { HTTPExchange("/" + WebServer.encoded(prefix + path.dropFirst())) }
  func condition(_ tag: String) -> String { S3Access.condition(tag) }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? { access.fault(answer, of: address) }
}

/// An object of S3, as the only entry of the root.
struct S3File: RemoteInterface {
  let file: FileName?
  let access: S3Access
  private let web: WebFile

  init(name: FileName, access: S3Access) {
    (file, self.access, web) = (name, access, WebFile(name: name))
  }

  var lifetime: UInt64 { web.lifetime }
  var advice: String { web.advice }
  var takesStartOfItems: Bool { web.takesStartOfItems }
  func known(at path: [UInt8]) -> ServerItem? { web.known(at: path) }
  func item(at path: [UInt8]) -> HTTPExchange { web.item(at: path) }
  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    try web.item(answer, at: path)
  }
  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange { web.listing(of: path, after: mark) }
  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    try web.listing(answer, of: path)
  }
  func file(at path: [UInt8]) -> HTTPExchange { web.file(at: path) }
  func condition(_ tag: String) -> String { S3Access.condition(tag) }
  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? { access.fault(answer, of: address) }
}
