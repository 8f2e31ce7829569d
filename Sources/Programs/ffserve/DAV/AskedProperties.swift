import Text

/// The properties requested by a PROPFIND (RFC 4918, section 14.20).
enum AskedProperties: Sendable {
  /// All known properties and their values.
  case all
  case names
  case some([PropertyName])

  private static let most = 256
  /// The maximum size of all names and namespaces, in bytes. The response repeats them for each entry.
  private static let longest = 8 << 10

  /// Returns `nil` if the body is not well-formed XML, or not a `propfind`. An empty body requests all properties.
  init?(_ body: [UInt8]) {
    self = .all
    if body.isEmpty { return }
    guard let root = try? XMLElement.root(of: body), root.isDAV("propfind") else { return nil }
    if let asked = root.dav("prop") {
      let properties = asked.elements.map { PropertyName(space: $0.space, name: $0.name) }
      let size = properties.reduce(0) { $0 + $1.space.utf8.count + $1.name.utf8.count }
      guard properties.count <= Self.most, size <= Self.longest else { return nil }
      self = .some(properties)
    } else if root.dav("propname") != nil {
      self = .names
    }
  }

  /// The properties that the attributes in a listing determine.
  private static let ofAttributes: Set = [
    "resourcetype", "displayname", "getlastmodified", "creationdate", "getcontenttype", "getcontentlength",
    "supportedlock", "lockdiscovery",
  ]

  /// Whether an entry has to be looked up for a requested property. A request of all properties of a directory's entries
  /// would otherwise cost a lookup for each.
  var needsPlaces: Bool {
    guard case .some(let properties) = self else { return false }
    return properties.contains { $0.space != "DAV:" || !Self.ofAttributes.contains($0.name) }
  }

  /// Whether the space of the file system is requested.
  var namesSpace: Bool {
    guard case .some(let properties) = self else { return false }
    return properties.contains { $0.space == "DAV:" && $0.name.hasPrefix("quota-") }
  }
}

/// The name of a property, with its namespace.
struct PropertyName: Sendable, Hashable {
  let space: String
  let name: String

  /// The property without a value, as XML.
  var empty: String { XMLElement(space: space, name: name, attributes: []).serialized() }
}
