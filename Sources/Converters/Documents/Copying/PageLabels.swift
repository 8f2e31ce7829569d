/// A document's page labels (ISO 32000-1, 12.4.2), such as `iv` or `A-3`.
struct PageLabels {
  private struct Range {
    /// The index of the first page. The range extends to the start of the next one.
    let start: Int
    /// The numbering style, in PDF syntax.
    let style: [UInt8]?
    let prefix: [UInt8]?
    let firstNumber: Int
  }

  private let ranges: [Range]

  /// Returns `nil` if the document has no page labels.
  init?(_ catalog: PDFObject, _ objects: ObjectCache) {
    guard let text = catalog["/PageLabels"]?.text else { return nil }
    ranges = NumberTree(text, objects).all.map { number, value in
      let label = objects.resolved(value[...])
      func part(_ key: String) -> [UInt8]? { label.value(of: key).map { Array(objects.resolved($0).bytes) } }
      return Range(
        start: number, style: part("/S"), prefix: part("/P"), firstNumber: label.integer(for: "/St") ?? 1)
    }
    if ranges.isEmpty { return nil }
  }

  /// Returns the number tree entries for pages with these indexes, the first of which becomes page `start` of a new
  /// document.
  func entries(for pages: [Int], from start: Int = 0) -> [UInt8] {
    var text: [UInt8] = []
    var last: (range: Int, page: Int)?
    for (place, page) in pages.enumerated() {
      let range = (ranges.firstIndex { $0.start > page } ?? ranges.count) - 1
      if last.map({ $0.range != range || $0.page != page - 1 }) ?? true {
        text += entry(range, page, at: start + place)
      }
      last = (range, page)
    }
    return text
  }

  private func entry(_ index: Int, _ page: Int, at place: Int) -> [UInt8] {
    // Pages before the first range are labelled by their numbers.
    guard ranges.indices.contains(index) else { return PageLabels.plain(at: place, number: page + 1) }
    let range = ranges[index]
    var text = Array("\(place) << ".utf8)
    if let style = range.style { text += Array("/S ".utf8) + style + [0x20] }
    if let prefix = range.prefix { text += Array("/P ".utf8) + prefix + [0x20] }
    let (number, overflow) = range.firstNumber.addingReportingOverflow(page - range.start)
    return text + Array("/St \(overflow ? 1 : max(1, number)) >> ".utf8)
  }

  /// Returns the entry for pages without labels.
  static func plain(at place: Int, number: Int = 1) -> [UInt8] { Array("\(place) << /S /D /St \(number) >> ".utf8) }
}
