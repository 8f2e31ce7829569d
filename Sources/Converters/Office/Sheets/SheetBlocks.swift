internal import WorkerKit

/// A converter of a sheet to a table. Omits a sheet without cells.
final class SheetBlocks: RowTaker {
  private let name: String
  private let taker: any BlockTaker
  private var isEmpty = true

  init(_ name: String, _ taker: any BlockTaker) {
    self.name = name
    self.taker = taker
  }

  func add(row: Int, _ cells: [SheetCell]) throws(JobFailure) {
    if isEmpty {
      try taker.add(.heading(1, [Run(.text(name))]))
      try taker.add(.tableStart)
      isEmpty = false
    }
    var shown: [Cell] = []
    for cell in cells {
      while shown.count < cell.column { shown.append(Cell([])) }
      shown.append(Cell(cell.text.isEmpty ? [] : [.paragraph([Run(.text(cell.text))])]))
    }
    try taker.add(.row(shown))
  }

  func finish() throws(JobFailure) {
    if !isEmpty { try taker.add(.tableEnd) }
  }
}
