internal import Glibc

/// PNG's filters (RFC 2083, clause 6), which are predictors 10 to 15 of PDF. Each row starts with its filter's number.
public enum Prediction {
  /// Undoes the filters of rows. Returns `nil` if there are too few bytes, or a filter is undefined.
  ///
  /// - Parameters:
  ///   - rowSize: the size of a row's samples, in bytes.
  ///   - step: the distance to the pixel to the left, in bytes.
  public static func removed(from bytes: [UInt8], rowSize: Int, rows: Int, step: Int) -> [UInt8]? {
    guard rowSize > 0, rows > 0, step > 0, bytes.count / (rowSize + 1) >= rows else { return nil }
    var plain = [UInt8](repeating: 0, count: rowSize * rows)
    var above = [UInt8](repeating: 0, count: rowSize)
    var row = above
    for index in 0..<rows {
      let start = index * (rowSize + 1)
      let filter = bytes[start]
      guard filter <= 4 else { return nil }
      for column in 0..<rowSize {
        let left = column >= step ? row[column - step] : 0
        let corner = column >= step ? above[column - step] : 0
        row[column] = bytes[start + 1 + column] &+ expected(filter, left, above[column], corner)
      }
      plain.replaceSubrange((index * rowSize)..<((index + 1) * rowSize), with: row)
      above = row
    }
    return plain
  }

  /// Applies to each row the filter that gives the smallest numbers.
  public static func applied(to samples: Samples) -> [UInt8] {
    let (rowSize, step) = (samples.width * samples.bands, samples.bands)
    var filtered: [UInt8] = []
    filtered.reserveCapacity((rowSize + 1) * samples.height)
    var above = [UInt8](repeating: 0, count: rowSize)
    var (best, candidate) = (above, above)
    for index in 0..<samples.height {
      let row = Array(samples.bytes[(index * rowSize)..<((index + 1) * rowSize)])
      var least = Int.max
      var choice: UInt8 = 0
      for filter in UInt8(0)...4 {
        var sum = 0
        for column in 0..<rowSize {
          let left = column >= step ? row[column - step] : 0
          let corner = column >= step ? above[column - step] : 0
          let value = row[column] &- expected(filter, left, above[column], corner)
          candidate[column] = value
          sum += Int(Int8(bitPattern: value).magnitude)
        }
        if sum < least {
          least = sum
          choice = filter
          swap(&best, &candidate)
        }
      }
      filtered.append(choice)
      filtered += best
      above = row
    }
    return filtered
  }

  @inline(__always)
  private static func expected(_ filter: UInt8, _ left: UInt8, _ up: UInt8, _ corner: UInt8) -> UInt8 {
    switch filter {
    case 1: return left
    case 2: return up
    case 3: return UInt8((Int(left) + Int(up)) / 2)
    case 4:
      let guess = Int(left) + Int(up) - Int(corner)
      let (a, b, c) = (abs(guess - Int(left)), abs(guess - Int(up)), abs(guess - Int(corner)))
      return a <= b && a <= c ? left : b <= c ? up : corner
    default: return 0
    }
  }
}
