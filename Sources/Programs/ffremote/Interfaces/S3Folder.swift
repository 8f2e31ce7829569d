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
    listing(["delimiter=%2F", "prefix=" + Percent.encoded(prefix(of: path))], after: mark)
  }

  private func listing(_ words: [String], after mark: String?) -> HTTPExchange {
    let mark = mark.map { ["continuation-token=" + Percent.encoded($0.utf8)] } ?? []
    // In the order of the signature.
    return HTTPExchange("/?" + (words + mark + ["encoding-type=url", "list-type=2"]).sorted().joined(separator: "&"))
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

  /// Returns the request for a page of the objects at any depth.
  func walk(_ page: FolderWalk.Page) -> HTTPExchange {
    listing(
      ["prefix=" + Percent.encoded(prefix), "start-after=" + Percent.encoded(prefix + page.start)], after: page.mark)
  }

  /// Returns the objects in a successful response by their keys without the prefix, and the mark of the next page if
  /// there is one.
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
