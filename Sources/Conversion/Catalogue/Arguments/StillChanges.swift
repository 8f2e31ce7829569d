/// Modifiers for extracting a picture of a film as an image, as in `film.mkv.1m30s.800px.as-jpeg`.
public struct StillChanges: Modifiers {
  /// The time of the picture. If `nil`, a representative picture is chosen.
  public private(set) var time: MediaTime?
  /// Whether the image shows sixteen pictures with their times.
  public private(set) var isContactSheet = false
  private var others = ImageChanges()

  public init() {}

  public var size: ImageChanges.Size? { others.size }
  /// The quality, from 1 to 100.
  public var quality: Int { others.quality ?? 85 }

  public mutating func add(_ word: Substring) -> Bool {
    if word == "contact" {
      guard !isContactSheet, time == nil else { return false }
      isContactSheet = true
      return true
    }
    if let time = MediaTime(word) {
      guard self.time == nil, !isContactSheet else { return false }
      self.time = time
      return true
    }
    var changed = others
    guard changed.add(word) else { return false }
    var rest = changed
    (rest.size, rest.quality) = (nil, nil)
    guard rest == ImageChanges() else { return false }
    others = changed
    return true
  }

  public var description: String {
    let words = [time?.description, isContactSheet ? "contact" : nil, others.description]
    return words.compactMap { $0?.isEmpty ?? true ? nil : $0 }.joined(separator: ".")
  }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("1m30s", "the picture at this time; by default one from the first third that is neither dark nor blurred"),
    ("contact", "sixteen pictures on one sheet, with their times"),
    ("1600px", "with a maximum of N pixels on the longest side"),
    ("800x600", "within the given width and height, with the same aspect ratio"),
    ("q70", "quality, from 1 to 100"),
  ]
}
