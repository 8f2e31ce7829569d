internal import WorkerKit

/// The formats in which the cells of a workbook show their values (ECMA-376, part 1, 18.8).
struct CellStyles {
  private let isSince1904: Bool
  /// The numbers of the formats, by style.
  private var formats: [Int] = []
  private var codes: [Int: String] = [:]
  /// The formats that have been used, by number.
  private var parsed: [Int: NumberFormat] = [:]

  init(isSince1904: Bool) { self.isSince1904 = isSince1904 }

  mutating func read(_ reader: MarkupReader) throws(JobFailure) {
    var isOfCells = false
    while let event = try reader.next() {
      switch event {
      case .start(let element):
        switch element.name {
        case "numFmt": if let id = element.number("numFmtId") { codes[id] = element["formatCode"] }
        case "cellXfs": isOfCells = true
        case "xf": if isOfCells { formats.append(element.number("numFmtId") ?? 0) }
        case "dxfs", "cellStyles", "fonts", "fills", "borders": try reader.skip()
        default: break
        }
      case .end(let name): if name == "cellXfs" { isOfCells = false }
      case .text: break
      }
    }
  }

  mutating func text(_ value: Double, _ style: Int) -> String {
    format(style).text(value, isSince1904: isSince1904)
  }

  mutating func text(_ value: String, _ style: Int) -> String { format(style).text(value) }

  private mutating func format(_ style: Int) -> NumberFormat {
    let id = formats.indices.contains(style) ? formats[style] : 0
    if let known = parsed[id] { return known }
    let format = NumberFormat(codes[id] ?? Self.usual[id] ?? "General")
    parsed[id] = format
    return format
  }

  /// The codes of formats that have only a number (18.8.30), in English.
  private static let usual: [Int: String] = [
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "mm/dd/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
  ]
}
