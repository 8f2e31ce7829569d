/// A black-and-white image or stencil: one bit per pixel, the first in a byte's highest bit, rows from the top, each
/// starting at a new byte.
public struct Bilevel: Sendable {
  public let width: Int
  public let height: Int
  public let bytes: [UInt8]
  public var rowSize: Int { (width + 7) / 8 }

  /// Creates an image. Excess bytes are ignored. Returns `nil` if there are too few, or the image is too large.
  public init?(width: Int, height: Int, bytes: [UInt8]) {
    guard let count = Samples.count((width + 7) / 8, height, 8), bytes.count >= count / 8 else { return nil }
    self.width = width
    self.height = height
    self.bytes = bytes.count == count / 8 ? bytes : Array(bytes[..<(count / 8)])
  }

  /// Creates an image whose bits are set where a sample is above the middle. Returns `nil` if there is more than one
  /// band.
  public init?(_ samples: Samples) {
    guard samples.bands == 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity((samples.width + 7) / 8 * samples.height)
    for row in 0..<samples.height {
      let start = row * samples.width
      for column in stride(from: start, to: start + samples.width, by: 8) {
        let count = min(8, start + samples.width - column)
        var byte: UInt8 = 0
        for offset in 0..<count { byte = byte << 1 | samples.bytes[column + offset] >> 7 }
        bytes.append(byte << UInt8(8 - count))
      }
    }
    self.init(width: samples.width, height: samples.height, bytes: bytes)
  }
}

extension Bilevel {
  /// Returns a smaller image, in which each bit is that of the majority of the bits it replaces.
  ///
  /// Returns `nil` if that would change what is visible: halftone patterns, which become black or white, and fine
  /// lines, which vanish.
  ///
  /// - Parameters:
  ///   - newWidth: from 1 to this width. The same applies to the height.
  ///   - inkIsSet: the value of ink bits, which win a tie.
  public func reduced(to newWidth: Int, _ newHeight: Int, inkIsSet: Bool) -> Bilevel? {
    guard (1...width).contains(newWidth), (1...height).contains(newHeight) else { return nil }
    // Padding, so that a word can be read at any byte.
    let source = bytes + [UInt8](repeating: 0, count: 8)
    let words = unsafe source.span.bytes
    let newSize = (newWidth + 7) / 8
    var reduced = [UInt8](repeating: 0, count: newSize * newHeight)
    // A word contains at least 57 bits after any bit of its first byte.
    let columns = (0...newWidth).map { $0 * width / newWidth }
    var change = Change()
    for y in 0..<newHeight {
      let rows = (y * height / newHeight)..<((y + 1) * height / newHeight)
      for x in 0..<newWidth {
        var set = 0
        for row in rows {
          var column = columns[x]
          while column < columns[x + 1] {
            let count = min(56, columns[x + 1] - column)
            let place = row * rowSize + column >> 3
            // Any bit pattern is an integer; the load checks its bounds.
            let word = UInt64(bigEndian: unsafe words.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
            set += ((word << UInt64(column & 7)) >> UInt64(64 - count)).nonzeroBitCount
            column += count
          }
        }
        let count = rows.count * (columns[x + 1] - columns[x])
        let isSet = inkIsSet ? 2 * set >= count : 2 * set > count
        if isSet { reduced[y * newSize + x >> 3] |= 0x80 >> (x & 7) }
        change.add(set: set, of: count, isSet)
      }
    }
    if change.isLoss { return nil }
    return Bilevel(width: newWidth, height: newHeight, bytes: reduced)
  }

  /// Measures how much an image changes when it is reduced.
  private struct Change {
    private var cells = 0
    /// Cells with a considerable part of either value.
    private var mixed = 0
    /// The number of set bits, before and after.
    private var (before, after, all) = (0, 0, 0)

    mutating func add(set: Int, of count: Int, _ isSet: Bool) {
      cells += 1
      if 4 * set >= count, 4 * set <= 3 * count { mixed += 1 }
      before += set
      after += isSet ? count : 0
      all += count
    }

    /// Whether the change is visible. Edges of letters are a few mixed cells, and change the letters' weight a little.
    var isLoss: Bool {
      if 100 * mixed > 15 * cells || 100 * abs(after - before) > 4 * all { return true }
      // The less frequent value is the drawing.
      let isDrawnSet = 2 * before <= all
      let (drawn, left) = isDrawnSet ? (before, after) : (all - before, all - after)
      return 100 * abs(left - drawn) > 20 * drawn
    }
  }

  /// All bits inverted, including the padding at the ends of rows, which is ignored.
  public var inverted: Bilevel { Bilevel(width: width, height: height, bytes: bytes.map { ~$0 }) ?? self }
}
