/// An image in memory: one byte per component, interleaved, rows from the top without gaps.
///
/// The numbers are the file's own. The caller knows their colour space.
public struct Samples: Sendable {
  public let width: Int
  public let height: Int
  /// The number of components per pixel.
  public let bands: Int
  public let bytes: [UInt8]

  /// The maximum size, in bytes.
  public static let limit = 1 << 28

  /// Returns `nil` if the number of bytes does not match, or is more than `limit`.
  public init?(width: Int, height: Int, bands: Int, bytes: [UInt8]) {
    guard let count = Self.count(width, height, bands), count == bytes.count else { return nil }
    self.width = width
    self.height = height
    self.bands = bands
    self.bytes = bytes
  }

  /// Returns the size of an image in bytes. Returns `nil` if it is 0 or more than `limit`.
  static func count(_ width: Int, _ height: Int, _ bands: Int) -> Int? {
    guard width > 0, height > 0, bands > 0, width <= limit, height <= limit, bands <= 32 else { return nil }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= limit / bands else { return nil }
    return pixels * bands
  }
}

extension Samples {
  /// Returns the number of different pixels, up to `limit`. At most O(number of pixels).
  public func countColours(upTo limit: Int) -> Int {
    var seen: Set<UInt32> = []
    var last: UInt32?
    var at = 0
    while at < bytes.count {
      var pixel: UInt32 = 0
      for band in 0..<bands { pixel = pixel << 8 | UInt32(bytes[at + band]) }
      at += bands
      if pixel == last { continue }
      last = pixel
      if seen.insert(pixel).inserted, seen.count >= limit { return limit }
    }
    return seen.count
  }

  /// Returns the image with each pixel replaced by its entry, of `bands` bytes, in a table. Indexes beyond the table
  /// yield its last entry. Returns `nil` for more than one band, an empty table, or a result that is too large.
  public func looked(upIn table: [UInt8], bands count: Int) -> Samples? {
    let entries = table.count / max(1, count)
    guard bands == 1, entries > 0, let size = Self.count(width, height, count) else { return nil }
    var expanded: [UInt8] = []
    expanded.reserveCapacity(size)
    for index in bytes {
      let start = min(Int(index), entries - 1) * count
      for offset in 0..<count { expanded.append(table[start + offset]) }
    }
    return Samples(width: width, height: height, bands: count, bytes: expanded)
  }
}

extension Samples {
  /// Returns the image rotated clockwise by a number of quarter turns.
  public func turned(_ quarters: Int) -> Samples {
    let quarters = quarters & 3
    if quarters == 0 { return self }
    let (newWidth, newHeight) = quarters == 2 ? (width, height) : (height, width)
    let turned = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, filled in
      unsafe bytes.withUnsafeBufferPointer { source in
        for y in 0..<newHeight {
          // The source of the row's first pixel, and the distance to that of the next one.
          let (first, step) =
            switch quarters {
            case 1: ((height - 1) * width + y, -width)
            case 2: ((height - 1 - y) * width + width - 1, -1)
            default: (width - 1 - y, width)
            }
          for x in 0..<newWidth {
            for band in 0..<bands {
              unsafe target[(y * newWidth + x) * bands + band] = source[(first + x * step) * bands + band]
            }
          }
        }
      }
      filled = bytes.count
    }
    return Samples(width: newWidth, height: newHeight, bands: bands, bytes: turned) ?? self
  }
}
