internal import Catalogue
internal import WorkerKit

/// A reader of workbooks: XLSX, XLSM, XLTX (ECMA-376, part 1, 18). Formulas have the values that were calculated when
/// the file was saved.
final class Workbook: Spreadsheet {
  private let package: OfficePackage
  private var sheets: [(name: String, path: String)] = []
  private var strings = SharedStrings()
  private var styles: CellStyles

  var names: [String] { sheets.map(\.name) }

  init(_ package: OfficePackage, main: String) throws(JobFailure) {
    self.package = package
    let parts = try package.relationships(of: main)
    guard let reader = try package.reader(main) else { throw JobFailure(.damaged, "has no list of sheets") }
    var isSince1904 = false
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "workbookPr": isSince1904 = element["date1904"].map { _ in !element.isOff("date1904") } ?? false
      case "sheet":
        guard let part = element["r:id"].flatMap({ parts[$0] }), part.kind == "worksheet", !part.isOutside else {
          continue
        }
        sheets.append((element["name"] ?? "", part.target))
      default: break
      }
    }
    func part(_ kind: String) throws(JobFailure) -> MarkupReader? {
      guard let part = parts.values.first(where: { $0.kind == kind }) else { return nil }
      return try package.reader(part.target)
    }
    styles = CellStyles(isSince1904: isSince1904)
    if let reader = try part("styles") { try styles.read(reader) }
    if let reader = try part("sharedStrings") { strings = try SharedStrings(reader) }
  }

  func read(sheet index: Int, into taker: any RowTaker) throws(JobFailure) {
    guard sheets.indices.contains(index), let reader = try package.reader(sheets[index].path) else {
      throw JobFailure(.absent, "has no such sheet")
    }
    var next = 0
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "row":
        let row = (element.number("r") ?? next + 1) - 1
        guard row >= next, row < CellPlace.mostRows else {
          throw JobFailure(.damaged, "has unordered rows (in sheet \(sheets[index].name))")
        }
        next = row + 1
        let cells = try readRow(reader)
        if !cells.isEmpty { try taker.add(row: row, cells) }
      case "sheetPr", "cols", "sheetViews", "conditionalFormatting", "dataValidations", "extLst", "mergeCells":
        try reader.skip()
      default: break
      }
    }
  }

  private func readRow(_ reader: MarkupReader) throws(JobFailure) -> [SheetCell] {
    var cells: [SheetCell] = []
    var next = 0
    try reader.forEachElement { (element) throws(JobFailure) in
      guard element.name == "c" else { return }
      let column = element["r"].flatMap { CellPlace($0)?.column } ?? next
      next = column + 1
      let text = try readCell(element, reader)
      if !text.isEmpty, column > (cells.last?.column ?? -1), column < CellPlace.mostColumns {
        cells.append(SheetCell(column: column, text: text))
      }
    }
    return cells
  }

  private func readCell(_ cell: Element, _ reader: MarkupReader) throws(JobFailure) -> String {
    var (value, inline) = ("", "")
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "v": value = try reader.text()
      case "is": inline = try SharedStrings.text(reader)
      case "f", "extLst": try reader.skip()
      default: break
      }
    }
    let style = cell.number("s") ?? 0
    switch cell["t"] {
    case "s": return Int(value).flatMap { strings[$0] }.map { styles.text($0, style) } ?? ""
    case "inlineStr": return inline
    case "str": return styles.text(SharedStrings.unescaped(value), style)
    case "b": return value.isEmpty ? "" : value == "0" ? "FALSE" : "TRUE"
    case "e", "d": return value
    default: return value.isEmpty ? inline : Double(value).map { styles.text($0, style) } ?? value
    }
  }
}
