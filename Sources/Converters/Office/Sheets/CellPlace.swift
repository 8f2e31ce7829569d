/// The position of a cell: `BC12`.
struct CellPlace {
  var column: Int
  var row: Int

  /// Returns `nil` if no sheet can have a cell of that name.
  init?(_ name: String) {
    var (column, row) = (0, 0)
    for byte in name.utf8 {
      switch byte {
      case 0x41...0x5a where row == 0: column = column * 26 + Int(byte) - 0x40
      case 0x61...0x7a where row == 0: column = column * 26 + Int(byte) - 0x60
      case 0x30...0x39: row = row * 10 + Int(byte) - 0x30
      case 0x24: break
      default: return nil
      }
      guard column <= Self.mostColumns, row <= Self.mostRows else { return nil }
    }
    guard column > 0, row > 0 else { return nil }
    self.column = column - 1
    self.row = row - 1
  }

  static let mostColumns = 1 << 14
  static let mostRows = 1 << 20
}
