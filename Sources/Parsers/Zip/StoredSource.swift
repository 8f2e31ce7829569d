internal import Bytes
internal import Codecs

/// A stored entry's bytes. A sequential pass verifies the CRC, and its last read fails if the CRC is wrong. Reads that
/// skip a part are not checked.
final class StoredSource: ByteSource {
  private let data: any ByteSource
  private let check: RunningCheck<CRC32Sum>
  var size: Int64 { data.size }
  var identity: ByteIdentity? { data.identity }
  var isSettling: Bool { data.isSettling }

  /// Creates a source. `isPassed` states that the CRC is already verified. `passed` is called when it is.
  init(_ data: any ByteSource, crc: UInt32, isPassed: Bool, passed: @escaping @Sendable () -> Void) {
    self.data = data
    check = RunningCheck(of: data, CRC32Sum(expected: crc), isPassed: isPassed, passed: passed)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    let count = unsafe try data.read(into: buffer, at: offset, blocking)
    unsafe try check.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset, blocking)
    return count
  }

  func extent(at offset: Int64, count: Int) -> Extent? { data.extent(at: offset, count: count) }

  func verify() throws(Fault) { try data.verify() }
  func assurance(of range: Range<Int64>) -> Assurance { check.assurance }

  func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try data.willMove(at: offset, count: count, blocking)
    try check.takeUnseen(at: offset, count: count, blocking)
  }
}
