internal import Bytes
internal import Codecs
internal import Mail
internal import Tree

/// Recognizes messages that are unchanged in another state of their file, by checksum.
enum RowChecksums {
  /// The size of one read, in bytes. The bytes are still in the processor's cache when they are summed.
  private static let readSize: Int64 = 192 << 10

  /// Returns whether messages found in another state of the file are unchanged in this one. Blocks.
  static func areThere(_ rows: [MessageRow], in bytes: any ByteSource) throws(Fault) -> Bool {
    let found: [UInt32]? = try unlessDelayed { () throws(Fault) in try Self.sums(of: rows[...], in: bytes) }
    return found == rows.map(\.sum)
  }

  private static func sums(of rows: ArraySlice<MessageRow>, in bytes: any ByteSource) throws(Fault) -> [UInt32] {
    guard let first = rows.first, let last = rows.last else { return [] }
    // Rows from an index may be inconsistent.
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
