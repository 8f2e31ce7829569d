internal import Bytes
internal import Mail
internal import Tree

/// The facts that queries test besides words: sixteen bytes per message.
struct MessageFacts: Sendable, Equatable {
  /// The dates, in seconds since 1970. `Int64.min` for a message without a date.
  private(set) var dates: [Int64] = []
  /// The days of writing in the sender's zone, since 1970. `Int32.min` for a message without a date.
  private(set) var days: [Int32] = []
  /// The sizes, in bytes, clamped to `UInt32.max`.
  private var sizes: [UInt32] = []

  var count: Int { dates.count }

  /// Returns the size of a message in bytes. A size of 4 GiB or more exceeds every limit.
  func size(_ position: Int) -> Int64 { sizes[position] == .max ? .max : Int64(sizes[position]) }

  mutating func add(_ row: MessageRow) {
    dates.append(row.date ?? .min)
    days.append(row.localDay.flatMap { Int32(exactly: $0) } ?? .min)
    sizes.append(UInt32(clamping: row.size))
  }

  /// `count` is the approximate number of messages.
  init(expecting count: Int = 0) {
    dates.reserveCapacity(count)
    days.reserveCapacity(count)
    sizes.reserveCapacity(count)
  }

  /// The size in memory, in bytes.
  var size: Int { 16 * count }
}

extension MessageFacts: Packable {
  var packedSize: Int { 16 * count }

  func packed(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for index in range.lowerBound / 16..<range.upperBound / 16 {
      bytes.append(littleEndian: dates[index])
      bytes.append(littleEndian: days[index])
      bytes.append(littleEndian: sizes[index])
    }
    return bytes
  }

  /// Parses the output of `packed`. Returns `nil` unless it is of `messages` messages.
  init?(packed bytes: [UInt8], messages: Int) {
    guard bytes.count == 16 * messages else { return nil }
    self.init(expecting: messages)
    let span = bytes.span
    func word(_ start: Int, _ size: Int) -> UInt64 {
      var word: UInt64 = 0
      for place in 0..<size { word |= UInt64(span[start + place]) << UInt64(8 * place) }
      return word
    }
    for start in stride(from: 0, to: bytes.count, by: 16) {
      dates.append(Int64(bitPattern: word(start, 8)))
      days.append(Int32(bitPattern: UInt32(word(start + 8, 4))))
      sizes.append(UInt32(word(start + 12, 4)))
    }
  }
}
