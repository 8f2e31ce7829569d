internal import WorkerKit

/// A writer of a sheet as CSV (RFC 4180), in UTF-8, with LF. The first line is row 1 of the sheet.
final class CSVWriter: RowTaker {
  private let output: DocumentTextOutput
  private var next = 0
  /// The maximum number of columns in a row so far. Shorter rows are padded to it.
  private var width = 1

  init(_ output: DocumentTextOutput) { self.output = output }

  func add(row: Int, _ cells: [SheetCell]) throws(JobFailure) {
    let empty = String(repeating: ",", count: width - 1) + "\n"
    while next < row {
      try output.write(empty)
      next += 1
    }
    next = row + 1
    var (line, column) = ("", 0)
    for cell in cells {
      // The first column is not preceded by a comma.
      line += String(repeating: ",", count: max(0, cell.column - column))
      column = cell.column
      line += Self.quoted(cell.text)
    }
    width = max(width, column + 1)
    line += String(repeating: ",", count: width - 1 - column)
    try output.write(line + "\n")
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x2c || $0 == 0x22 || $0 == 0x0a || $0 == 0x0d }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }

  func finish() throws(JobFailure) { try output.flush() }
}
