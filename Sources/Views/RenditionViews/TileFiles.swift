internal import Bytes
internal import Catalogue
internal import Jobs
internal import Tree

/// The contents of the directory of an image's pieces: `1-1.jpg`, `1-2.jpg` and so on, by row and column.
struct TileFiles: DirectoryContents {
  let changes: TileChanges
  let grid: ImageArea.Grid
  let result: Format

  var view: String { "tiles" }
  var job: Job.Work? { nil }

  var key: DirectoryKey {
    var hash = StableHash(seed: Self.family)
    hash.combine("\(result.name) \(changes)".utf8)
    return DirectoryKey(family: Self.family, part: hash.value, identity: hash.value)
  }

  private static let family: UInt64 = 0x7469_6C65 << 32

  func files(of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode) throws(Fault) -> DerivedFiles {
    DerivedFiles(count: grid.columns * grid.rows) { index in
      name(row: index / grid.columns + 1, column: index % grid.columns + 1)
    } recipe: { name in
      let numbers = name.text.prefix { $0 != "." }.split(separator: "-").map { Int($0) ?? 0 }
      guard numbers.count == 2, self.name(row: numbers[0], column: numbers[1]) == name else { return nil }
      return changes.changes(row: numbers[0], column: numbers[1]).map { .image(result, $0) }
    }
  }

  /// Returns a name with as many digits as the last row or column has.
  private func name(row: Int, column: Int) -> FileName {
    func digits(_ number: Int, of most: Int) -> String { (number < 10 && most > 9 ? "0" : "") + String(number) }
    let position = "\(digits(row, of: grid.rows))-\(digits(column, of: grid.columns))"
    return FileName("\(position).\(result.extensions.first?.text ?? result.name)")
  }
}
