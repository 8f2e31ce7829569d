internal import Bytes
internal import Catalogue
internal import WorkerKit

/// A reader of the sheets of ODS files, whose cells contain the text that they show (OpenDocument 1.3, part 3, 9).
struct OpenSheets: Spreadsheet {
  private let package: OfficePackage
  let names: [String]
  /// The maximum numbers of rows and columns in a sheet.
  private static let mostRows = 1 << 20
  private static let mostColumns = 1 << 14
  /// The maximum number of cells in a sheet that repeat others.
  private static let mostRepeated = 4 << 20

  init(_ package: OfficePackage) throws(JobFailure) {
    self.package = package
    var names: [String] = []
    try Self.forEachTable(in: package) { (element, reader) throws(JobFailure) in
      names.append(element["table:name"] ?? "")
      try reader.skip()
      return true
    }
    self.names = names
  }

  /// Calls `body` with each sheet's element until it returns false. `body` reads the element to its end.
  private static func forEachTable(
    in package: OfficePackage, _ body: (Element, MarkupReader) throws(JobFailure) -> Bool
  ) throws(JobFailure) {
    guard let reader = try package.reader("content.xml") else { throw JobFailure(.damaged, "has no content.xml") }
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "table:table": if !(try body(element, reader)) { return }
      case "table:tracked-changes", "office:automatic-styles": try reader.skip()
      default: break
      }
    }
  }

  func read(sheet index: Int, into taker: any RowTaker) throws(JobFailure) {
    var number = 0
    try Self.forEachTable(in: package) { (_, reader) throws(JobFailure) in
      defer { number += 1 }
      if number < index {
        try reader.skip()
        return true
      }
      try Self.readRows(reader, into: taker)
      return false
    }
  }

  private static func readRows(_ reader: MarkupReader, into taker: any RowTaker) throws(JobFailure) {
    var row = 0
    var left = mostRepeated
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "table:table-row":
        let times = min(max(1, element.number("table:number-rows-repeated") ?? 1), mostRows - row)
        let cells = try readCells(reader, &left)
        if !cells.isEmpty {
          left -= max(0, times - 1) * cells.count
          guard left >= 0 else { throw tooMany }
          for repetition in 0..<times { try taker.add(row: row + repetition, cells) }
        }
        row += times
      case "table:shapes", "office:forms": try reader.skip()
      default: break
      }
    }
  }

  private static var tooMany: JobFailure { JobFailure(.limit, "repeats more than \(mostRepeated) cells") }

  /// Returns the cells of a row with text. Subtracts the number of those that repeat others from `left`, perhaps below 0.
  private static func readCells(_ reader: MarkupReader, _ left: inout Int) throws(JobFailure) -> [SheetCell] {
    var cells: [SheetCell] = []
    var column = 0
    var repeated = 0
    try reader.forEachElement { (element) throws(JobFailure) in
      guard element.name == "table:table-cell" || element.name == "table:covered-table-cell" else { return }
      let times = min(max(1, element.number("table:number-columns-repeated") ?? 1), mostColumns - column)
      let text = try readText(reader) ?? value(of: element)
      if !text.isEmpty {
        repeated += max(0, times - 1)
        for repetition in 0..<times { cells.append(SheetCell(column: column + repetition, text: text)) }
      }
      column += times
    }
    left -= repeated
    return cells
  }

  /// Returns the value in a cell's attributes, for cells without a paragraph that shows it (19.385).
  private static func value(of cell: Element) -> String {
    let kinds = ["string-value", "value", "date-value", "time-value", "boolean-value"]
    return kinds.firstNonNil { cell["office:" + $0] } ?? ""
  }

  /// Returns a cell's paragraphs, one a line. Returns `nil` if it has none.
  private static func readText(_ reader: MarkupReader) throws(JobFailure) -> String? {
    var lines: [String] = []
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "text:p":
        let text = OpenText(reader, OpenStyles())
        lines.append(try text.readRuns(BlockList()).words)
      case "office:annotation", "draw:frame", "table:detective", "draw:custom-shape": try reader.skip()
      default: break
      }
    }
    return lines.isEmpty ? nil : lines.joined(separator: "\n")
  }
}
