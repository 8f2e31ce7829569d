internal import Bytes
internal import Codecs
internal import Mail
internal import Tree

/// Messages that follow each other, each with the sum of its bytes: by that it is known again in another state of its file.
struct SummedRows {
  private let bytes: any ByteSource
  private(set) var rows: [MessageRow] = []
  /// The first that has no sum yet.
  private var next = 0

  /// So much is summed up at a time, while it is still in the processor's cache.
  private static let readSize: Int64 = 192 << 10

  init(of bytes: any ByteSource) { self.bytes = bytes }

  /// Adds the next message. Blocks.
  mutating func add(_ row: MessageRow) throws(Fault) {
    rows.append(row)
    if row.end - rows[next].separator >= Self.readSize { try finish() }
  }

  /// Sums up all that are there. Blocks.
  mutating func finish() throws(Fault) {
    for sum in try Self.sums(of: rows[next...], in: bytes) {
      rows[next].sum = sum
      next += 1
    }
  }

  mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    next = 0
  }

  /// Whether messages that were found in another state of the file are in this one, where they were. Blocks.
  static func areThere(_ rows: [MessageRow], in bytes: any ByteSource) throws(Fault) -> Bool {
    let found: [UInt32]? = try unlessDelayed { () throws(Fault) in try Self.sums(of: rows[...], in: bytes) }
    return found == rows.map(\.sum)
  }

  private static func sums(of rows: ArraySlice<MessageRow>, in bytes: any ByteSource) throws(Fault) -> [UInt32] {
    guard let first = rows.first, let last = rows.last else { return [] }
    // Those of an index may say anything.
    guard rows.allSatisfy({ $0.separator < $0.end }), last.end <= bytes.size,
      zip(rows, rows.dropFirst()).allSatisfy({ $0.end == $1.separator })
    else { throw Fault(.damaged, "expected messages that follow each other", atByte: first.separator) }
    var sums: [UInt32] = []
    sums.reserveCapacity(rows.count)
    var sum = CRC32()
    var place = first.separator
    while place < last.end {
      let block = try bytes.bytes(at: place, count: Int(min(readSize, last.end - place)))
      unsafe block.withUnsafeBytes { block in
        var done = 0
        while done < block.count {
          let end = rows[rows.startIndex + sums.count].end - place
          let stop = Int(min(Int64(block.count), end))
          unsafe sum.update(UnsafeRawBufferPointer(rebasing: block[done..<stop]))
          done = stop
          guard Int64(done) == end else { continue }
          sums.append(sum.value)
          sum = CRC32()
        }
      }
      place += Int64(block.count)
    }
    return sums
  }
}
