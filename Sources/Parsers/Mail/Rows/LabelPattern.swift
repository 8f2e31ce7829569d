internal import Text

/// A label as queries name it. A label below it matches, too.
public struct LabelPattern: Sendable {
  private let letters: [String]
  private let words: [String]

  public init(_ label: String) { (letters, words) = (Self.letters(label), Self.words(label)) }

  /// Returns whether a label matches. Case, accents, spaces and slashes are ignored: directory names have none.
  public func matches(_ name: String) -> Bool { Self.matches(name, letters, Self.letters) }

  /// Returns whether a label matches by its words. All characters between them are ignored.
  public func matchesWords(of name: String) -> Bool { !words.isEmpty && Self.matches(name, words, Self.words) }

  private static func matches(_ name: String, _ wanted: [String], _ key: (String) -> [String]) -> Bool {
    let parts = name.split(separator: "/")
    return (1...max(1, parts.count)).contains { key(parts.prefix($0).joined(separator: "/")) == wanted }
  }

  private static func letters(_ text: String) -> [String] {
    [FoldedText.folded(text).filter { $0 != "/" && $0 != " " }]
  }

  private static func words(_ text: String) -> [String] {
    FoldedText.folded(text).split { !$0.isLetter && !$0.isNumber }.map { String($0) }
  }
}
