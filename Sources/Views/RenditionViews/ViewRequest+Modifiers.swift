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
    var source = name
    var asked = conversions.map { (conversion: $0, modifiers: $0.usual) }
    var requests: [ViewRequest] = []
    // No modifier may be repeated, so there are few.
    while !source.isEmpty, !asked.isEmpty {
      if let first = asked.first(where: { $0.modifiers?.isComplete ?? true }) {
        let recipe = Recipe(verb: first.conversion.verb, first.modifiers)
        requests.append(ViewRequest(source: FileName(source), recipe: recipe))
      }
      guard let dot = source.lastIndex(of: UInt8(ascii: ".")), dot > source.startIndex else { break }
      let word = Substring(String(decoding: source[(dot + 1)...], as: UTF8.self))
      source = source[..<dot]
      asked = asked.compactMap { conversion, modifiers in
        guard var modifiers, modifiers.add(word) else { return nil }
        return (conversion, modifiers)
      }
    }
    return requests
  }
}
