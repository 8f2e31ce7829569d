/// Modifiers for cutting an image into tiles, as in `photo.jpg.800px.4x3.tiles`.
public struct TileChanges: Modifiers {
  /// The grid. `nil` until a modifier sets it.
  public private(set) var grid: ImageArea.Grid?
  /// The changes that are applied to the image before it is cut.
  public private(set) var rest = ImageChanges()

  public init() {}

  public var isComplete: Bool { grid != nil }

  public mutating func add(_ word: Substring) -> Bool {
    if grid == nil, let named = ImageArea.Grid(String(word)) {
      grid = named
      return true
    }
    var changed = rest
    guard changed.add(word), changed.tile == nil else { return false }
    rest = changed
    return true
  }

  public func apply(to source: Format) -> Bool { rest.apply(to: source) }

  /// Returns the changes that make one of the tiles. Returns `nil` if the tile does not exist.
  public func changes(row: Int, column: Int) -> ImageChanges? {
    guard let tile = grid.flatMap({ ImageArea.Tile(row: row, column: column, of: $0) }) else { return nil }
    var changes = rest
    changes.tile = tile
    return changes
  }

  public static var examples: [(modifier: String, meaning: String)] {
    [("4x3", "into the given number of columns and rows, up to \(ImageArea.Grid.most)")]
      + ImageChanges.examples.filter { example in
        var changes = TileChanges()
        return changes.add("1x1") && changes.add(example.modifier[...])
      }
  }

  public var description: String {
    ([grid?.description, rest == ImageChanges() ? nil : rest.description].compactMap(\.self)).joined(separator: ".")
  }
}
