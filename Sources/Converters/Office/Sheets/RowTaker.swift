internal import WorkerKit

/// Takes the rows of a sheet that have something in them, from the first to the last.
protocol RowTaker: AnyObject {
  /// - Parameters:
  ///   - row: its number, from 0.
  ///   - cells: by their columns.
  func add(row: Int, _ cells: [SheetCell]) throws(JobFailure)
}
