internal import Bytes

/// A window of a source in memory, moved sequentially.
struct MailWindow: ~Copyable {
  private let source: any ByteSource
  /// The size of a read, in bytes.
  private let readSize: Int
  let size: Int64
  /// The window's offset in the source.
  private(set) var base: Int64 = 0
  private(set) var count = 0
  private var storage: [UInt8]

  /// The number of bytes before the requested offset that stay in memory.
  static let kept = 4 << 10

  init(_ source: any ByteSource, readSize: Int) {
    self.source = source
    self.readSize = max(1, readSize)
    size = source.size
    storage = Array(repeating: 0, count: MailWindow.kept + max(64, readSize))
  }

  var end: Int64 { base + Int64(count) }
  var isAtEnd: Bool { end >= size }

  /// The bytes in memory, from `base` on.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get { storage.span.extracting(first: count) }
  }

  /// Returns the index in `bytes` of an offset in the source.
  func place(_ offset: Int64) -> Int { Int(offset - base) }

  /// Makes `wanted` bytes from `offset` on available, or as many as exist, and `kept` bytes before them. Blocks.
  mutating func move(to offset: Int64, wanted: Int) throws(Fault) {
    let (sum, isOver) = offset.addingReportingOverflow(Int64(wanted))
    let target = isOver ? size : min(size, sum)
    let first = max(0, offset - Int64(MailWindow.kept))
    if target <= end, first >= base { return }
    if first < base || first > end {
      base = first
      count = 0
    } else {
      drop(Int(first - base))
    }
    let room = Int(target - base)
    if room > storage.count { storage += Array(repeating: 0, count: room + readSize - storage.count) }
    while end < target { try readOn() }
  }

  private mutating func drop(_ dropped: Int) {
    guard dropped > 0 else { return }
    let left = count - dropped
    unsafe storage.withUnsafeMutableBytes { buffer in
      // Both lie within the buffer: dropped + left is the count.
      let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[dropped..<dropped + left])
      unsafe buffer.copyMemory(from: rest)
    }
    base += Int64(dropped)
    count = left
  }

  private mutating func readOn() throws(Fault) {
    try CancellationToken.check()
    let room = Int(min(Int64(min(readSize, storage.count - count)), size - end))
    let at = end
    let filled = count
    var outcome = Result<Int, Fault>.success(0)
    unsafe storage.withUnsafeMutableBytes { buffer in
      let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + room])
      do throws(Fault) { outcome = .success(unsafe try source.read(into: free, at: at, .blocking)) } catch {
        outcome = .failure(error)
      }
    }
    let got = try outcome.get()
    guard got > 0, got <= room else { throw Fault(.changed, "expected \(size) bytes, found \(at)", atByte: at) }
    count += got
  }
}
