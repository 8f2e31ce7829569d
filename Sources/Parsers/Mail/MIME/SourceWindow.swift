internal import Bytes

/// A window of a source in memory, moved sequentially by its reader.
@safe struct SourceWindow: ~Copyable {
  private let source: any ByteSource
  /// The end of the source, or the offset to stop at.
  private let end: Int64
  private let buffer: UnsafeMutableRawBufferPointer
  /// The window's offset in the source.
  private(set) var start: Int64
  private(set) var count = 0

  /// Starts empty, at the start of `range`. `capacity` is the maximum size, in bytes.
  init(_ source: any ByteSource, _ range: Range<Int64>, capacity: Int = 128 << 10) {
    self.source = source
    end = range.upperBound
    start = range.lowerBound
    unsafe buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe buffer.deallocate() }

  /// Whether the window extends to the end.
  var reachesEnd: Bool { start + Int64(count) >= end }

  /// The window's bytes, valid until it is moved.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

  /// Moves the window to start at `offset`, with as many bytes before `limit` as fit. Bytes already present are not
  /// read again.
  mutating func move(to offset: Int64, before limit: Int64 = .max) throws(Fault) {
    let isWithin = offset >= start && offset < start + Int64(count)
    let kept = isWithin ? count - Int(offset - start) : 0
    if kept > 0, kept < count, let base = unsafe buffer.baseAddress {
      unsafe base.copyMemory(from: base + (count - kept), byteCount: kept)
    }
    start = offset
    count = kept
    let wanted = unsafe Int(min(Int64(buffer.count - kept), max(0, min(end, limit) - offset - Int64(kept))))
    guard wanted > 0 else { return }
    try CancellationToken.check()
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<kept + wanted])
    let got = unsafe try source.read(into: rest, at: offset + Int64(kept), .blocking)
    guard got == wanted else {
      throw Fault(.damaged, "expected \(wanted) bytes, found \(got)", atByte: offset + Int64(kept))
    }
    count += got
  }
}
