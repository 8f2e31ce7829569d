package import Bytes

/// The documentation of a view.
public struct ViewDescription: Sendable {
  /// How its names are written: `NAME.contents/`.
  public let spelling: String
  /// The extensions of the files beside which it is listed, sorted, unless `-o views=` says otherwise.
  public let listed: [String]
  /// The files that have it by name.
  public let sources: String
  /// What the view shows.
  public let result: String
  public let modifiers: [Modifier]

  /// A word that may precede the format: `photo.png.1600px.as-jpeg`.
  public struct Modifier: Sendable {
    public let example: String
    public let meaning: String

    package init(example: String, meaning: String) {
      self.example = example
      self.meaning = meaning
    }
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
