/// A cell of a sheet, with the text that it shows.
struct SheetCell {
  /// The column, from 0.
  var column: Int
  var text: String
}
