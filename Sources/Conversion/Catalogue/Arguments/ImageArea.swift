/// A part of a picture, as written in modifiers.
public enum ImageArea {
  /// A width and height, and the offset from the upper left corner, in pixels: `crop=640x480+10+20`.
  public struct Rectangle: Hashable, Sendable {
    public let width: Int
    public let height: Int
    public let left: Int
    public let top: Int

    public init(width: Int, height: Int, left: Int, top: Int) {
      (self.width, self.height, self.left, self.top) = (width, height, left, top)
    }
  }

  /// The largest centred part with an aspect ratio: `16:9`.
  public struct Ratio: Hashable, Sendable {
    public let width: Int
    public let height: Int

    /// Returns the part of a picture with this width and height.
    public func rectangle(_ width: Int, _ height: Int) -> Rectangle {
      let isTooWide = width * self.height > height * self.width
      let inside =
        isTooWide
        ? (width: max(1, height * self.width / self.height), height: height)
        : (width: width, height: max(1, width * self.height / self.width))
      return Rectangle(
        width: inside.width, height: inside.height, left: (width - inside.width) / 2, top: (height - inside.height) / 2)
    }
  }

  /// A tile of a grid: `tile2-3of4x3` is the tile in row 2 and column 3 of four columns and three rows.
  public struct Tile: Hashable, Sendable {
    /// The row, from 1.
    public let row: Int
    public let column: Int
    public let grid: Grid

    /// Returns `nil` if the grid does not contain the tile.
    public init?(row: Int, column: Int, of grid: Grid) {
      guard (1...grid.rows).contains(row), (1...grid.columns).contains(column) else { return nil }
      (self.row, self.column, self.grid) = (row, column, grid)
    }

    /// Returns the part of a picture with this width and height. Tiles cover the whole picture and differ by at most
    /// one pixel. Returns `nil` if the picture has fewer pixels than columns or rows.
    public func rectangle(_ width: Int, _ height: Int) -> Rectangle? {
      guard width >= grid.columns, height >= grid.rows else { return nil }
      let (left, top) = (width * (column - 1) / grid.columns, height * (row - 1) / grid.rows)
      return Rectangle(
        width: width * column / grid.columns - left, height: height * row / grid.rows - top, left: left, top: top)
    }
  }

  /// A number of columns and rows: `4x3`.
  public struct Grid: Hashable, Sendable {
    public let columns: Int
    public let rows: Int
    /// The maximum number of columns, and of rows.
    public static let most = 64
  }
}

extension ImageArea.Rectangle: LosslessStringConvertible {
  private static let mark = "crop="

  public init?(_ text: String) {
    guard text.hasPrefix(Self.mark) else { return nil }
    let parts = text.dropFirst(Self.mark.count).split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count == 3, let (width, height) = ImageChanges.pair(parts[0], "x"),
      let left = ImageChanges.count(parts[1], from: 0), let top = ImageChanges.count(parts[2], from: 0)
    else { return nil }
    self.init(width: width, height: height, left: left, top: top)
  }

  public var description: String { "\(Self.mark)\(width)x\(height)+\(left)+\(top)" }
}

extension ImageArea.Ratio: LosslessStringConvertible {
  public init?(_ text: String) {
    guard let (width, height) = ImageChanges.pair(text[...], ":", upTo: 1000) else { return nil }
    self.init(width: width, height: height)
  }

  public var description: String { "\(width):\(height)" }
}

extension ImageArea.Tile: LosslessStringConvertible {
  private static let mark = "tile"

  public init?(_ text: String) {
    guard text.hasPrefix(Self.mark), let of = text.firstRange(of: "of"),
      let grid = ImageArea.Grid(String(text[of.upperBound...])),
      let (row, column) = ImageChanges.pair(text[..<of.lowerBound].dropFirst(Self.mark.count), "-")
    else { return nil }
    self.init(row: row, column: column, of: grid)
  }

  public var description: String { "\(Self.mark)\(row)-\(column)of\(grid)" }
}

extension ImageArea.Grid: LosslessStringConvertible {
  public init?(_ text: String) {
    guard let (columns, rows) = ImageChanges.pair(text[...], "x", upTo: Self.most) else { return nil }
    self.init(columns: columns, rows: rows)
  }

  public var description: String { "\(columns)x\(rows)" }
}
