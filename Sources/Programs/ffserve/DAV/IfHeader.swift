/// The If header of WebDAV (RFC 4918, section 10.4): lists of conditions, one of which has to be met.
struct IfHeader: Sendable {
  enum Condition: Sendable {
    case token(String)
    case tag(String)
  }

  struct List: Sendable {
    /// The URL that the list is about. Nil for that of the request.
    let resource: String?
    var conditions: [(isNegated: Bool, condition: Condition)] = []
  }

  private(set) var lists: [List] = []

  private static let most = 64

  /// The lock tokens in the header, which are thereby submitted.
  var tokens: Set<String> {
    Set(
      lists.flatMap(\.conditions).compactMap { _, condition in
        if case .token(let token) = condition { token } else { nil }
      })
  }

  /// Returns `nil` if the header is malformed.
  init?(_ text: String) {
    var rest = text[...]
    var resource: String?
    func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }
    func upTo(_ end: Character) -> String? {
      guard let index = rest.firstIndex(of: end) else { return nil }
      defer { rest = rest[rest.index(after: index)...] }
      return String(rest[..<index])
    }
    while true {
      skipBlanks()
      guard let first = rest.popFirst() else { break }
      if first == "<" {
        guard let tag = upTo(">") else { return nil }
        resource = tag
        continue
      }
      guard first == "(" else { return nil }
      var list = List(resource: resource)
      while true {
        skipBlanks()
        if rest.first == ")" {
          rest = rest.dropFirst()
          break
        }
        var isNegated = false
        if rest.prefix(3).lowercased() == "not" {
          isNegated = true
          rest = rest.dropFirst(3)
          skipBlanks()
        }
        guard let opening = rest.popFirst(), opening == "<" || opening == "[",
          let value = upTo(opening == "<" ? ">" : "]"), list.conditions.count < Self.most
        else { return nil }
        list.conditions.append((isNegated, opening == "<" ? .token(value) : .tag(value)))
      }
      guard !list.conditions.isEmpty, lists.count < Self.most else { return nil }
      lists.append(list)
    }
    if lists.isEmpty { return nil }
  }
}
