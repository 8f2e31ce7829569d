/// Finds the names of destinations among the tokens of an object.
struct DestinationScan {
  /// The names, in the order in which their dictionaries end.
  private(set) var names: [Range<Int>] = []

  private let bytes: [UInt8]
  /// The open brackets.
  private var open: [Bracket] = []

  private struct Bracket {
    let isDictionary: Bool
    /// The key of the current entry.
    var key: Range<Int>?
    var hasValue = false
    /// The values of `/D` and of `/Dest`.
    var places: [Range<Int>] = []
    var links: [Range<Int>] = []
    var isForeign = false
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func take(_ token: Range<Int>) {
    switch (bytes[token.lowerBound], token.count) {
    case (0x3C, 2) where bytes[token.lowerBound + 1] == 0x3C:
      open.append(Bracket(isDictionary: true))
    case (0x5B, _):
      open.append(Bracket(isDictionary: false))
    case (0x5D, _):
      close()
    case (0x3E, 2):
      close()
    default:
      takeInner(token)
    }
  }

  private mutating func takeInner(_ token: Range<Int>) {
    guard let last = open.indices.last, open[last].isDictionary else { return }
    guard let key = open[last].key, !open[last].hasValue else {
      if bytes[token.lowerBound] == 0x2F {
        open[last].key = token
        open[last].hasValue = false
        // With `/F` as a file, destinations are in that file; an annotation's `/F` holds flags, but it has no `/D`.
        if isEqual(token, "/F") { open[last].isForeign = true }
      }
      return
    }
    open[last].hasValue = true
    if isName(token) {
      if isEqual(key, "/D") { open[last].places.append(token) }
      if isEqual(key, "/Dest") { open[last].links.append(token) }
      if isEqual(key, "/S"), isEqual(token, "/GoToR") || isEqual(token, "/GoToE") { open[last].isForeign = true }
    }
  }

  private mutating func close() {
    guard let bracket = open.popLast() else { return }
    if let last = open.indices.last { open[last].hasValue = true }
    names += bracket.links
    if !bracket.isForeign { names += bracket.places }
  }

  private func isEqual(_ token: Range<Int>, _ name: StaticString) -> Bool {
    token.count == name.utf8CodeUnitCount && bytes[token].elementsEqual(name.description.utf8)
  }

  /// Returns whether a token can be the name of a destination.
  private func isName(_ token: Range<Int>) -> Bool {
    switch bytes[token.lowerBound] {
    case 0x28, 0x2F: true
    case 0x3C: token.count > 2 || token.count == 2 && bytes[token.lowerBound + 1] == 0x3E
    default: false
    }
  }
}
