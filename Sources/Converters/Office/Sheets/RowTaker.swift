internal import WorkerKit

/// A consumer of the rows of a sheet that are not empty, in order.
protocol RowTaker: AnyObject {
  /// - Parameters:
  ///   - row: its number, from 0.
  ///   - cells: sorted by their columns.
  func add(row: Int, _ cells: [SheetCell]) throws(JobFailure)
}
