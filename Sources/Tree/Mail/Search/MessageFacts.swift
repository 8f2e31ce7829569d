internal import Bytes
internal import Mail

/// What queries ask of messages beside their words: sixteen bytes a message.
struct MessageFacts: Sendable, Equatable {
  /// In seconds since 1970; the least for a message without a date.
  private(set) var dates: [Int64] = []
  /// The local day of writing, since 1970; the least for a message without a date.
  private(set) var days: [Int32] = []
  /// In bytes; those of 4 GiB and more are one.
  private var sizes: [UInt32] = []

  var count: Int { dates.count }

  /// Of a message, in bytes; what is 4 GiB or more is larger than anything.
  func size(_ position: Int) -> Int64 { sizes[position] == .max ? .max : Int64(sizes[position]) }

  mutating func add(_ row: MessageRow) {
    dates.append(row.date ?? .min)
    days.append(row.localDay.flatMap { Int32(exactly: $0) } ?? .min)
    sizes.append(UInt32(clamping: row.size))
  }

  /// For the index: little-endian.
  var packed: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16 * count)
    func add(_ word: UInt64, _ size: Int) {
      for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * place))) }
    }
    for index in 0..<count {
      add(UInt64(bitPattern: dates[index]), 8)
      add(UInt64(UInt32(bitPattern: days[index])), 4)
      add(UInt64(sizes[index]), 4)
    }
    return bytes
  }

  /// `count` is how many messages there will be, about.
  init(expecting count: Int = 0) {
    dates.reserveCapacity(count)
    days.reserveCapacity(count)
    sizes.reserveCapacity(count)
  }

  /// In memory, in bytes.
  var size: Int { 16 * count }

  /// nil unless it is of so many messages.
  init?(packed bytes: [UInt8], messages: Int) {
    guard bytes.count == 16 * messages else { return nil }
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
