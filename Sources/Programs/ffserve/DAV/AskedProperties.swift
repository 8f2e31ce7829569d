import Text

/// What a PROPFIND asks for (RFC 4918, section 14.20).
enum AskedProperties: Sendable {
  struct Property: Sendable {
    let space: String
    let name: String
  }

  /// All that are known, and their values.
  case all
  case names
  case some([Property])

  private static let most = 256
  /// Of their names and namespaces together, in bytes: each entry's answer repeats them.
  private static let longest = 8 << 10

  /// nil if the body is not well-formed XML, or not a `propfind`. No body asks for all.
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
