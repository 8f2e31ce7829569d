import Assembly
import Bytes
import NIOCore
import NIOHTTP1
import Text
import Tree

/// Where a symbolic link leads, as JSON can say it.
struct LinkText: Sendable {
  /// For people: bytes that are not UTF-8 are shown as U+FFFD.
  let text: String
  /// Percent-encoded, if it is not UTF-8.
  let encoded: String?
  /// When the link itself was made; ISO 8601, in UTC.
  let modified: String

  init(_ target: [UInt8], _ attributes: Attributes) {
    modified = HTTPDate.iso(attributes.modified)
    text = String(decoding: target, as: UTF8.self)
    encoded = target.span.isUTF8 ? nil : Percent.encoded(target, keepingSlash: true)
  }
}

extension API {
  /// The target of a link in `folder`, as it would be in a mount of the tree: one that begins with the path of what is
  /// served, which is nowhere else, leads from the folder. nil if it cannot be read.
  func linkText(of link: Place?, in folder: TreePath) -> LinkText? {
    guard let link, let target = try? site.tree.linkTarget(link.node, .blocking), !target.isEmpty else { return nil }
    let attributes = link.attributes
    let slash = UInt8(ascii: "/")
    guard target.first == slash, site.source.path != "/", target.starts(with: site.source.path.utf8) else {
      return LinkText(target, attributes)
    }
    let rest = target.dropFirst(site.source.path.utf8.count)
    guard rest.isEmpty || rest.first == slash else { return LinkText(target, attributes) }
    let up = folder.names.isEmpty ? Array("./".utf8) : folder.names.flatMap { _ in Array("../".utf8) }
    return LinkText(up + rest.drop { $0 == slash }, attributes)
  }

  /// What is neither file, folder nor link; nil for those.
  static func special(_ kind: Kind) -> String? {
    switch kind {
    case .file, .folder, .link: nil
    case .fifo: "fifo"
    case .socket: "socket"
    case .characterDevice: "characterDevice"
    case .blockDevice: "blockDevice"
    }
  }

  /// An answer with the tag of its bytes, or that the client has it.
  func tagged(_ response: Response, _ request: Request) -> Response {
    guard case .buffer(let bytes) = response.body else { return response }
    var hash = StableHash()
    unsafe bytes.withUnsafeReadableBytes { unsafe hash.combine(long: RawSpan(_unsafeBytes: $0)) }
    let tag = "\"" + String(hash.value, radix: 36) + "\""
    guard request.header("if-none-match") == tag else { return response.with("ETag", tag) }
    return Response(.notModified, headers: response.headers + [("ETag", tag)])
  }
}
