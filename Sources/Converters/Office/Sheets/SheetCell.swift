/// A cell of a sheet, as it is shown.
struct SheetCell {
  /// From 0.
  var column: Int
  var text: String
}
