import Text

/// The properties requested by a PROPFIND (RFC 4918, section 14.20).
enum AskedProperties: Sendable {
  struct Property: Sendable {
    let space: String
    let name: String
  }

  /// All known properties and their values.
  case all
  case names
  case some([Property])

  private static let most = 256
  /// The maximum size of all names and namespaces, in bytes. The response repeats them for each entry.
  private static let longest = 8 << 10

  /// Returns `nil` if the body is not well-formed XML, or not a `propfind`. An empty body requests all properties.
  init?(_ body: [UInt8]) {
    self = .all
    if body.isEmpty { return }
    var depth = 0
    var size = 0
    var properties: [Property]?
    do throws(XMLScanner.Malformed) {
      var scanner = try XMLScanner(body)
      while let event = try scanner.next() {
        switch event {
        case .start(let space, let name):
          if depth == 0 {
            guard space == "DAV:", name == "propfind" else { return nil }
          } else if depth == 1, space == "DAV:" {
            switch name {
            case "allprop": self = .all
            case "propname": self = .names
            case "prop": properties = []
            default: break
            }
          } else if depth == 2, properties != nil {
            size += space.utf8.count + name.utf8.count
            guard (properties?.count ?? 0) < Self.most, size <= Self.longest else { return nil }
            properties?.append(Property(space: space, name: name))
          }
          depth += 1
        case .end: depth -= 1
        }
      }
    } catch { return nil }
    if let properties { self = .some(properties) }
  }
}
