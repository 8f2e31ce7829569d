/// How a page in a photo becomes a clean one: the modifiers of a name like `photo.jpg.scan.bw.as-pdf`.
public struct ScanChanges: Modifiers {
  private var named: ScanFilter?
  private var size = ImageChanges()
  /// Whether the word itself is there, without which nothing is scanned.
  private var isScan = false

  public init() {}

  public var filter: ScanFilter { named ?? .colour }
  /// 1 to 100; nil: the format's usual one.
  public var quality: Int? { size.quality }
  /// nil: as the paper's size and the photo have it.
  public var largest: ImageChanges.Size? { size.size }

  public var isComplete: Bool { isScan }

  public mutating func add(_ word: Substring) -> Bool {
    if word == "scan" {
      defer { isScan = true }
      return !isScan
    }
    if let filter = ScanFilter(rawValue: String(word)) {
      guard named == nil else { return false }
      named = filter
      return true
    }
    var changed = size
    guard changed.add(word) else { return false }
    var rest = changed
    (rest.quality, rest.size) = (nil, nil)
    guard rest == ImageChanges() else { return false }
    size = changed
    return true
  }

  public static var examples: [(modifier: String, meaning: String)] {
    let filters = ScanFilter.allCases.dropFirst().map { "`\($0.rawValue)`" }.joined(separator: ", ")
    return [
      ("scan", "the page in the photo, straightened and cleaned; without this word the photo"),
      ("colour", "shadows gone, paper white, colours kept, as usual; instead also \(filters)"),
      ("1600px", "at most so many pixels on the longest side"),
      ("q70", "quality, from 1 to 100"),
    ]
  }

  /// With the usual filter written out, so that a name that says it has the same result.
  public var description: String {
    (["scan", filter.rawValue] + (size == ImageChanges() ? [] : [size.description])).joined(separator: ".")
  }
}
