internal import WorkerKit

/// Writes a sheet as CSV (RFC 4180), in UTF-8, with LF: the first row is row 1, as a sheet has it.
final class CSVWriter: RowTaker {
  private let output: TextOutput
  private var next = 0
  /// The most columns of a row so far: a shorter one gets as many.
  private var width = 1

  init(_ output: TextOutput) { self.output = output }

  func add(row: Int, _ cells: [SheetCell]) throws(JobFailure) {
    let empty = String(repeating: ",", count: width - 1) + "\n"
    while next < row {
      try output.write(empty)
      next += 1
    }
    next = row + 1
    var (line, column) = ("", 0)
    for cell in cells {
      // The first column has no comma before it.
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
