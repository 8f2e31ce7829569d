import Assembly
import Bytes
import NIOCore
import NIOHTTP1
import Text
import Tree

/// The target of a symbolic link, in a form that JSON can represent.
struct LinkText: Sendable {
  /// The target for display. Bytes that are not UTF-8 are shown as U+FFFD.
  let text: String
  /// The percent-encoded target, if it is not UTF-8.
  let encoded: String?
  /// The modification time of the link itself, as ISO 8601 in UTC.
  let modified: String

  init(_ target: [UInt8], _ attributes: Attributes) {
    modified = HTTPDate.iso(attributes.modified)
    text = String(decoding: target, as: UTF8.self)
    encoded = target.span.isUTF8 ? nil : Percent.encoded(target, keepingSlash: true)
  }
}

extension API {
  /// Returns the target of a link in `folder`, as in a mount of the tree. An absolute target in the source is made
  /// relative to the directory, since the source's path exists nowhere else. Returns `nil` if it cannot be read.
  func linkText(of link: ResolvedPath?, in folder: TreePath) -> LinkText? {
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

  /// Returns the kind of a special file. Returns `nil` for files, directories and links.
  static func special(_ kind: Kind) -> String? {
    switch kind {
    case .file, .folder, .link: nil
    case .fifo: "fifo"
    case .socket: "socket"
    case .characterDevice: "characterDevice"
    case .blockDevice: "blockDevice"
    }
  }

  /// Returns the response with an entity tag of its bytes, or 304 if the client has it.
  func tagged(_ response: Response, _ request: HTTPRequest) -> Response {
    guard case .buffer(let bytes) = response.body else { return response }
    var hash = StableHash()
    unsafe bytes.withUnsafeReadableBytes { unsafe hash.combine(long: RawSpan(_unsafeBytes: $0)) }
    let tag = "\"" + String(hash.value, radix: 36) + "\""
    guard request.header("if-none-match") == tag else { return response.with("ETag", tag) }
    return Response(.notModified, headers: response.headers + [("ETag", tag)])
  }
}
