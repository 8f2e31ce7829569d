internal import Bytes
internal import Catalogue
internal import Tree

extension ViewRequest {
  /// The ways in which a name can be divided into that of a file and modifiers, the longest file name first.
  ///
  /// - Parameters:
  ///   - name: without what names the view.
  ///   - conversions: those that it may ask for. The first that knows all the modifiers counts.
  static func all(_ name: ArraySlice<UInt8>, _ conversions: [Conversion]) -> [ViewRequest] {
    var requests: [ViewRequest] = []
    divide(name, conversions.map { ($0, $0.usual) }, &requests)
    // A stable order of the same division: the first conversion that knows the modifiers counts.
    return requests.enumerated().sorted {
      ($1.element.source.bytes.count, $0.offset) < ($0.element.source.bytes.count, $1.offset)
    }.map(\.element)
  }

  private static let mostPieces = 3

  /// Adds what a name asks for whose end has been divided into the modifiers so far.
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
    // A number has its dot, too: `1.5s-2.5s` is one word of three pieces. No modifier may be repeated, so there are few.
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
