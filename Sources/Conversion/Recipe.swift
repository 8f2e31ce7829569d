/// What is made of a file's bytes: with the bytes, all that the result depends on.
public enum Recipe: Hashable, Sendable {
  /// Some of a PDF's pages, as a PDF.
  case pages(PageSelection)
  /// An image of an image's first frame, or of a PDF's first page.
  case image(ImageFormat, ImageChanges)
  /// A PDF's text in reading order, UTF-8.
  case text
  /// One PDF of several files, which come as a `Bundle`.
  case merged
}

extension Recipe: LosslessStringConvertible {
  /// `pages 2-5`, `jpeg 1600px.q70`, `text`: the same for two recipes only if they are equal.
  public var description: String {
    switch self {
    case .pages(let selection): "pages \(selection)"
    case .image(let format, let changes): "\(format.rawValue) \(changes)"
    case .text: "text"
    case .merged: "merged"
    }
  }

  public init?(_ description: String) {
    if let simple = [Recipe.text, .merged].first(where: { $0.description == description }) {
      self = simple
      return
    }
    let words = description.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else { return nil }
    if words[0] == "pages" {
      guard let selection = PageSelection(words[1]) else { return nil }
      self = .pages(selection)
      return
    }
    guard let format = ImageFormat(rawValue: String(words[0])) else { return nil }
    var changes = ImageChanges()
    for modifier in words[1].split(separator: ".") where !changes.add(modifier) { return nil }
    self = .image(format, changes)
  }
}
