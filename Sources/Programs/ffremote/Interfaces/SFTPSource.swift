import Bytes
import Glibc
import ServerAnswers
import Text

/// A folder of an SFTP server, or a file of one as the only entry of the root.
struct SFTPSource: RemoteInterface {
  /// The path on the server, without a trailing slash.
  let root: [UInt8]
  let file: FileName?

  var lifetime: UInt64 { WebServer.lifetime }
  var longestValidity: UInt64 { WebServer.longestValidity }
  var advice: String { "does ssh connect to it without a question?" }

  func known(at path: [UInt8]) -> ServerItem? { file != nil && path.count == 1 ? WebServer.folder : nil }

  private func exchange(_ method: String, _ path: [UInt8]) -> HTTPExchange {
    let full = file != nil ? root : path.count > 1 ? root + path : root.isEmpty ? path : root
    var exchange = HTTPExchange(Percent.encoded(full, keepingSlash: true))
    exchange.method = method
    return exchange
  }

  /// Returns a request for the attributes of the source, which can be a link.
  var start: HTTPExchange { exchange("STAT", [UInt8(ascii: "/")]) }

  func item(at path: [UInt8]) -> HTTPExchange {
    // The source may be a link. Others are shown as links.
    exchange(path.count == 1 || file != nil ? "STAT" : "LSTAT", path)
  }

  func item(_ answer: RepeatedRequest.Answer, at path: [UInt8]) throws(Fault) -> ServerItem? {
    guard var item = Self.decoded(answer.body).first else { return nil }
    if let file { item.name = file }
    return item
  }

  func listing(of path: [UInt8], after mark: String?) -> HTTPExchange {
    file != nil ? item(at: path) : exchange("LIST", path)
  }

  func listing(
    _ answer: RepeatedRequest.Answer, of path: [UInt8]
  ) throws(Fault) -> (items: [ServerItem], next: String?) {
    (
      try file.map { _ throws(Fault) in try item(answer, at: path).map { [$0] } ?? [] } ?? Self.decoded(answer.body),
      nil
    )
  }

  func file(at path: [UInt8]) -> HTTPExchange { exchange("GET", path) }

  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? {
    switch answer.head.status {
    case 403: return Fault(.system(EACCES), "the server \(address) refuses access (check the permissions there)")
    case 500:
      let said = String(decoding: answer.body.prefix(200), as: UTF8.self)
      return Fault(.system(EIO), "the server \(address) answers: \(said.isEmpty ? "failure" : said)")
    default: return nil
    }
  }

  // MARK: Entries between the client and this

  /// Returns the entries as the body of a response.
  static func encoded(_ names: [(name: FileName, attributes: SFTPMessage.Attributes, target: [UInt8]?)]) -> [UInt8] {
    var body: [UInt8] = []
    for (name, attributes, target) in names {
      body += [UInt8](bigEndian: UInt32(name.bytes.count)) + name.bytes
      body += [UInt8](bigEndian: attributes.mode ?? 0) + [UInt8](bigEndian: attributes.size ?? 0)
      body += [UInt8](bigEndian: attributes.modified ?? 0)
      let isTarget = target.map { !$0.isEmpty && $0.count <= 4095 && !$0.contains(0) } ?? false
      body += [UInt8](bigEndian: UInt32(isTarget ? target?.count ?? 0 : 0)) + (isTarget ? target ?? [] : [])
    }
    return body
  }

  private static func decoded(_ body: [UInt8]) -> [ServerItem] {
    var items: [ServerItem] = []
    var rest = body[...]
    func number(_ count: Int) -> UInt64 {
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
    func string() -> [UInt8] {
      let count = Int(number(4))
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    while !rest.isEmpty {
      let name = string()
      let mode = UInt32(truncatingIfNeeded: number(4))
      let size = Int64(bitPattern: number(8))
      let modified = Int64(bitPattern: number(8))
      let target = string()
      let attributes = SFTPMessage.Attributes(size: size, mode: mode, modified: modified)
      // The target of a link that cannot be read is unknown.
      if attributes.kind == .link, target.isEmpty { continue }
      items.append(attributes.item(named: FileName(name), target: target.isEmpty ? nil : target))
    }
    return items
  }
}
