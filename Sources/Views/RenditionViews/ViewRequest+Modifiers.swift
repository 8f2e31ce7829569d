internal import Bytes
internal import Catalogue
internal import Tree

extension ViewRequest {
  /// Returns the possible divisions of a name into a file name and modifiers, the longest file name first.
  ///
  /// - Parameters:
  ///   - name: The name without the part that names the view.
  ///   - conversions: The conversions that the name can request. The first that supports all modifiers is used.
  static func all(_ name: ArraySlice<UInt8>, _ conversions: [Conversion]) -> [ViewRequest] {
    var requests: [ViewRequest] = []
    divide(name, conversions.map { ($0, $0.usual) }, &requests)
    // The sort is stable, so the first conversion that supports the modifiers is used.
    return requests.enumerated().sorted {
      ($1.element.source.bytes.count, $0.offset) < ($0.element.source.bytes.count, $1.offset)
    }.map(\.element)
  }

  private static let mostPieces = 3

  /// Adds the requests of a name whose end has already been divided into modifiers.
  private static func divide(
    _ source: ArraySlice<UInt8>, _ asked: [(conversion: Conversion, modifiers: (any Modifiers)?)],
    _ requests: inout [ViewRequest]
  ) {
    guard !source.isEmpty else { return }
    if let first = asked.first(where: { $0.modifiers?.isComplete ?? true }) {
      let recipe = Recipe(verb: first.conversion.verb, first.modifiers)
      requests.append(ViewRequest(source: FileName(source), recipe: recipe))
    }
    var end = source.endIndex
    // A number can contain a dot: `1.5s-2.5s` is one modifier of three pieces. Modifiers cannot be repeated, so there
    // are few.
    for _ in 0..<mostPieces {
      guard let dot = source[..<end].lastIndex(of: UInt8(ascii: ".")), dot > source.startIndex else { return }
      let word = Substring(String(decoding: source[(dot + 1)...], as: UTF8.self))
      let known = asked.compactMap { conversion, modifiers -> (Conversion, (any Modifiers)?)? in
        guard var modifiers, modifiers.add(word) else { return nil }
        return (conversion, modifiers)
      }
      if !known.isEmpty { divide(source[..<dot], known, &requests) }
      guard dot + 1 < source.endIndex, isDigit(source[dot - 1]), isDigit(source[dot + 1]) else { return }
      end = dot
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
