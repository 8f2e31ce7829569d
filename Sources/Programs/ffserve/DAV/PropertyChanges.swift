/// The changes requested by a PROPPATCH (RFC 4918, section 9.2), in their order.
struct PropertyChanges: Sendable {
  enum Change: Sendable {
    case set(XMLElement)
    case remove(PropertyName)

    var name: PropertyName {
      switch self {
      case .set(let element): PropertyName(space: element.space, name: element.name)
      case .remove(let name): name
      }
    }
  }

  let changes: [Change]

  private static let most = 256

  /// Returns `nil` if the body is not well-formed XML, or not a `propertyupdate`.
  init?(_ body: [UInt8]) {
    guard let root = try? XMLElement.root(of: body), root.isDAV("propertyupdate") else { return nil }
    var changes: [Change] = []
    for part in root.elements where part.isDAV("set") || part.isDAV("remove") {
      for property in part.dav("prop")?.elements ?? [] {
        changes.append(
          part.isDAV("set") ? .set(property) : .remove(PropertyName(space: property.space, name: property.name)))
      }
    }
    guard !changes.isEmpty, changes.count <= Self.most else { return nil }
    self.changes = changes
  }
}
