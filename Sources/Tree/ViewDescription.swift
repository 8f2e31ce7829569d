package import Bytes
package import Conversion

/// What a view says of itself, for people.
public struct ViewDescription: Sendable {
  /// How it is called: `NAME.contents/`.
  public let spelling: String
  /// The extensions of the files that it is listed beside, sorted, as long as `-o views=` says nothing else.
  public let listed: [String]
  /// Which files have it by name.
  public let sources: String
  /// What it shows.
  public let result: String
  public let modifiers: [Modifier]

  /// A word that may stand before the format: `photo.png.1600px.as-jpeg`.
  public struct Modifier: Sendable {
    public let example: String
    public let meaning: String
  }

  package init(
    _ spelling: String, listed: Set<FileExtension> = [], sources: String, _ result: String, modifiers: [Modifier] = []
  ) {
    self.spelling = spelling
    self.listed = listed.map(\.text).sorted()
    self.sources = sources
    self.result = result
    self.modifiers = modifiers
  }
}

extension ImageChanges {
  /// As people are told of them.
  package static var described: [ViewDescription.Modifier] {
    examples.map { ViewDescription.Modifier(example: $0.modifier, meaning: $0.meaning) }
  }
}
