package import Bytes

/// The documentation of a view.
public struct ViewDescription: Sendable {
  /// The form of the names, such as `NAME.contents/`.
  public let spelling: String
  /// The extensions of the files beside which the view is listed by default, sorted.
  public let listed: [String]
  /// The files that have the view under its name.
  public let sources: String
  /// The content of the view.
  public let result: String
  public let modifiers: [Modifier]

  /// An optional word before the format, as in `photo.png.1600px.as-jpeg`.
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
