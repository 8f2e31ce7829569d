public import Bytes

extension MessageRow {
  /// Reads the row of a file that is one message, whose bytes are those from `start` to `end`, without a checksum.
  /// Blocks.
  ///
  /// Reads the header section, at most `Header.limit` bytes. Rethrows the source's faults.
  public init(ofFile source: any ByteSource, from start: Int64, to end: Int64) throws(Fault) {
    self.init(separator: start, start: start, end: end)
    var wanted = 8 << 10
    while true {
      let count = Int(min(Int64(wanted), end - start))
      let bytes = try source.bytes(at: start, count: count)
      let isAll = Int64(count) == end - start || count >= Header.limit
      let head = MessageHead(ofFile: bytes.span)
      if head.isCut, !isAll {
        wanted = min(Header.limit, wanted * 8)
        continue
      }
      fill(bytes.span, head, separatorDate: nil)
      break
    }
  }
}
