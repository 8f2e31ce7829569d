/// What is made of a file's bytes: with the bytes, all that the result depends on.
public enum Recipe: Hashable, Sendable {
  /// Some of a PDF's pages, as a PDF.
  case pages(PageSelection)
  /// An image of an image, with the frames and pages that both kinds of file can have, or of a PDF's first page.
  case image(ImageFormat, ImageChanges)
  /// A PDF's text in reading order, UTF-8.
  case text
  /// A PDF whose images have so many pixels an inch, and a quality of 1 to 100.
  case compressed(resolution: Int, quality: Int)
  /// One PDF of several files, which come as a `Bundle`.
  case merged
}

extension Recipe {
  /// Goes up whenever a recipe gives other bytes than before: what was made by an earlier one, and how large that was, is
  /// not believed any more.
  public static let version: UInt64 = 4

  /// A compressed PDF by what modifiers say; nil where one says what a PDF does not have.
  public static func compressed(by changes: ImageChanges) -> Recipe? {
    var rest = changes
    rest.resolution = nil
    rest.quality = nil
    guard rest == ImageChanges() else { return nil }
    return .compressed(resolution: changes.resolution ?? 150, quality: changes.quality ?? 60)
  }
}

extension Recipe: LosslessStringConvertible {
  /// `pages 2-5`, `jpeg 1600px.q70`, `text`: the same for two recipes only if they are equal.
  public var description: String {
    switch self {
    case .pages(let selection): "pages \(selection)"
    case .image(let format, let changes): "\(format.rawValue) \(changes)"
    case .text: "text"
    case .compressed(let resolution, let quality): "compressed \(resolution)dpi.q\(quality)"
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
    var changes = ImageChanges()
    for modifier in words[1].split(separator: ".") where !changes.add(modifier) { return nil }
    if words[0] == "compressed" {
      guard let recipe = Recipe.compressed(by: changes) else { return nil }
      self = recipe
      return
    }
    guard let format = ImageFormat(rawValue: String(words[0])) else { return nil }
    self = .image(format, changes)
  }
}
