import Bytes
import Glibc
import Tree

/// The properties that clients have set on a real file or directory (dead properties, RFC 4918, section 4). They are
/// kept in an extended attribute, as XML, and so follow the item to another name.
struct DeadProperties: Sendable {
  private(set) var elements: [XMLElement]

  private static let attribute: FileName = "user.dav.properties"

  /// Reads the properties. There are none if the file system does not support extended attributes, or another program
  /// has written something else there. Blocks.
  init(of place: ResolvedPath) throws(Fault) {
    let value = try unlessDelayed { () throws(Fault) in
      try place.tree.extendedAttribute(Self.attribute, of: place.node, .blocking)
    }
    let text = Array("<p>".utf8) + (value ?? []) + Array("</p>".utf8)
    elements = value == nil ? [] : (try? XMLElement.root(of: text))?.elements ?? []
  }

  subscript(name: PropertyName) -> XMLElement? { elements.first { $0.space == name.space && $0.name == name.name } }

  mutating func apply(_ change: PropertyChanges.Change) {
    let name = change.name
    elements.removeAll { $0.space == name.space && $0.name == name.name }
    if case .set(let element) = change { elements.append(element) }
  }

  /// Stores the properties. Throws if there is not enough space for them, as many file systems have only some KiB for
  /// each file. Blocks.
  func store(on place: ResolvedPath) throws(Fault) {
    let value = elements.isEmpty ? nil : Array(elements.map { $0.serialized() }.joined().utf8)
    do throws(Fault) {
      try place.tree.setExtendedAttribute(Self.attribute, to: value, of: place.node, flags: 0, for: nil)
    } catch {
      if value == nil, [.system(ENODATA), .system(EOPNOTSUPP)].contains(error.kind) { return }
      throw error.kind == .system(E2BIG) || error.kind == .system(ERANGE) ? Fault(.system(ENOSPC)) : error
    }
  }
}
