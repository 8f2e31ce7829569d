/// How a page in a photo becomes a clean one: the modifiers of a name like `photo.jpg.scan.bw.as-pdf`.
public struct ScanChanges: Modifiers {
  private var named: ScanFilter?
  private var others = ImageChanges()
  /// Of several pages in a photo, as `.scan.pages/` counts them; nil: the one that it is a photo of.
  public private(set) var page: Int?
  /// Whether the word itself is there, without which nothing is scanned.
  private var isScan = false

  public init() {}

  /// With the word and no other.
  static let plain = {
    var changes = ScanChanges()
    changes.isScan = true
    return changes
  }()

  public var filter: ScanFilter { named ?? .colour }
  /// What else is done with the page: quality and size, as far as they are named.
  public var rest: ImageChanges { others }

  public var isComplete: Bool { isScan }

  public mutating func add(_ word: Substring) -> Bool {
    if word == "scan" {
      defer { isScan = true }
      return !isScan
    }
    if word.hasPrefix(Self.pageMark) {
      guard let page = PageSelection(word.dropFirst(Self.pageMark.count)), page.runs.count == 1,
        page.runs[0].first == page.runs[0].last
      else { return false }
      return choose(page: page.runs[0].first)
    }
    if let filter = ScanFilter(rawValue: String(word)) {
      guard named == nil else { return false }
      named = filter
      return true
    }
    var changed = others
    guard changed.add(word) else { return false }
    var rest = changed
    (rest.quality, rest.size) = (nil, nil)
    guard rest == ImageChanges() else { return false }
    others = changed
    return true
  }

  /// False, and nothing changed, if one was chosen.
  public mutating func choose(page number: Int) -> Bool {
    guard page == nil else { return false }
    page = number
    return true
  }

  private static let pageMark = "page"

  public static var examples: [(modifier: String, meaning: String)] {
    let filters = ScanFilter.allCases.dropFirst().map { "`\($0.rawValue)`" }.joined(separator: ", ")
    return [
      ("scan", "the page in the photo, straightened and cleaned; without this word the photo"),
      ("colour", "shadows gone, paper white, colours kept, as usual; instead also \(filters)"),
      ("page2", "of several pages in a photo this one, as `.scan.pages/` counts them"),
      ("1600px", "at most so many pixels on the longest side"),
      ("q70", "quality, from 1 to 100"),
    ]
  }

  /// With the usual filter written out, so that a name that says it has the same result.
  public var description: String {
    (["scan", filter.rawValue] + (page.map { ["\(Self.pageMark)\($0)"] } ?? [])
      + (others == ImageChanges() ? [] : [others.description])).joined(separator: ".")
  }
}
