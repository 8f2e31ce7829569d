internal import Bytes
internal import Catalogue
internal import Tree

/// The directory of an image's pieces: `1-1.jpg`, `1-2.jpg` and so on, by row and column.
final class TileFolder: DerivedItem {
  let file: SourceState
  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }
  private let changes: TileChanges
  private let grid: ImageArea.Grid
  private let result: Format
  private let conversions: Conversions

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7469_6C65 << 32

  init(
    _ file: SourceState, _ changes: TileChanges, _ grid: ImageArea.Grid, as result: Format, _ conversions: Conversions
  ) {
    self.file = file
    self.changes = changes
    self.grid = grid
    self.result = result
    self.conversions = conversions
    var hash = StableHash(seed: Self.mark)
    hash.combine("\(result.name) \(changes)".utf8)
    identity = hash.value
    inode = file.inode(Self.mark, hash.value)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  /// Returns a name with as many digits as the last row or column has.
  private func name(row: Int, column: Int) -> FileName {
    func digits(_ number: Int, of most: Int) -> String { (number < 10 && most > 9 ? "0" : "") + String(number) }
    let place = "\(digits(row, of: grid.rows))-\(digits(column, of: grid.columns))"
    return FileName("\(place).\(result.extensions.first?.text ?? result.name)")
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let numbers = name.text.prefix { $0 != "." }.split(separator: "-").map { Int($0) ?? 0 }
    guard numbers.count == 2, self.name(row: numbers[0], column: numbers[1]) == name,
      let piece = piece(row: numbers[0], column: numbers[1])
    else { return nil }
    return LookupResult(piece, try piece.attributes(blocking))
  }

  /// Returns a piece. Returns `nil` if it does not exist.
  private func piece(row: Int, column: Int) -> RenditionFile? {
    guard let changes = changes.changes(row: row, column: column),
      let conversion = conversions.catalogue.conversion(result.name)
    else { return nil }
    return RenditionFile(
      file, .image(result, changes), conversions, view: "tiles",
      estimate: conversion.size.estimate(fromFileOf: file.attributes.size))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { TileListing(self) }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? { file.provenance(view: "tiles", nil) }

  private final class TileListing: DirectoryCursor {
    private let folder: TileFolder
    private static let blockSize = 256

    init(_ folder: TileFolder) { self.folder = folder }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      let (columns, count) = (folder.grid.columns, folder.grid.columns * folder.grid.rows)
      guard place >= 0, place < count else { return [] }
      return (Int(place)..<min(count, Int(place) + Self.blockSize)).compactMap { index in
        let (row, column) = (index / columns + 1, index % columns + 1)
        guard let piece = folder.piece(row: row, column: column) else { return nil }
        return ListedEntry(
          name: ListedName(folder.name(row: row, column: column)), inode: piece.inode, kind: .file,
          next: Int64(index) + 1)
      }
    }
  }
}
