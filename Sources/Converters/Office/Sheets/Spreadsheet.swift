internal import WorkerKit

/// A file with sheets.
protocol Spreadsheet {
  /// The sheets' names, in order.
  var names: [String] { get }

  /// - Parameter index: the sheet's number, from 0.
  func read(sheet index: Int, into taker: any RowTaker) throws(JobFailure)
}

extension Spreadsheet {
  /// Reads all sheets as tables below their names.
  func read(into taker: any BlockTaker) throws(JobFailure) {
    for (index, name) in names.enumerated() {
      let rows = SheetBlocks(name, taker)
      try read(sheet: index, into: rows)
      try rows.finish()
    }
  }
}
