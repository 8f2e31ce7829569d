/// Modifiers for cleaning a photographed page, as in `photo.jpg.scan.bw.as-pdf`.
public struct ScanChanges: Modifiers {
  private var named: ScanFilter?
  private var others = ImageChanges()
  /// The number of the page, if the photo shows several, as in `.scan.pages/`. `nil` for the main page.
  public private(set) var page: Int?
  /// Whether the modifier `scan` is present, which is required.
  private var isScan = false

  public init() {}

  /// The modifier `scan` alone.
  static let plain = {
    var changes = ScanChanges()
    changes.isScan = true
    return changes
  }()

  public var filter: ScanFilter { named ?? .colour }
  /// The quality and size of the result, if specified.
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

  /// Sets the page. Returns `false` and changes nothing if one is set already.
  public mutating func choose(page number: Int) -> Bool {
    guard page == nil else { return false }
    page = number
    return true
  }

  private static let pageMark = "page"

  public static var examples: [(modifier: String, meaning: String)] {
    let filters = ScanFilter.allCases.dropFirst().map { "`\($0.rawValue)`" }.joined(separator: ", ")
    return [
      ("scan", "the page in the photo, straightened and cleaned; otherwise the photo itself"),
      ("colour", "shadows removed, paper white, colours kept: the default; also \(filters)"),
      ("page2", "one of several pages in a photo, numbered as in `.scan.pages/`"),
      ("1600px", "with a maximum of N pixels on the longest side"),
      ("q70", "quality, from 1 to 100"),
    ]
  }

  /// The modifiers with the default filter written out, so that names with explicit defaults have the same result.
  public var description: String {
    (["scan", filter.rawValue] + (page.map { ["\(Self.pageMark)\($0)"] } ?? [])
      + (others == ImageChanges() ? [] : [others.description])).joined(separator: ".")
  }
}
