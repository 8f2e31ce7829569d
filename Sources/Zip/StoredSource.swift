internal import Bytes
internal import Codecs
internal import Synchronization

/// A stored entry's bytes, where they lie. The CRC is summed up along the way, and the read that completes it fails when it
/// is wrong; reads that leave out a part go unchecked.
final class StoredSource: ByteSource {
  private let data: any ByteSource
  private let crc: UInt32
  private let passed: @Sendable () -> Void
  private let check: Mutex<Check>
  var size: Int64 { data.size }
  var identity: ByteIdentity? { data.identity }

  private struct Check {
    /// Up to where the CRC is summed up.
    var next: Int64 = 0
    var crc = CRC32()
    var isPassed: Bool
    var fault: Fault?
  }

  /// The kernel's readahead may skip this much and come back to it.
  private static let longestGap: Int64 = 4 << 20
  private static let blockSize = 256 << 10

  /// `isPassed` says that the CRC was found right before; `passed` is called when it is.
  init(_ data: any ByteSource, crc: UInt32, isPassed: Bool, passed: @escaping @Sendable () -> Void) {
    self.data = data
    self.crc = crc
    self.passed = passed
    check = Mutex(Check(isPassed: isPassed))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    let count = unsafe try data.read(into: buffer, at: offset, patience)
    try sum(through: offset, count, patience)
    return count
  }

  func extent(at offset: Int64, count: Int) -> Extent? { data.extent(at: offset, count: count) }

  func verify() throws(Fault) { try data.verify() }

  func willMove(at offset: Int64, count: Int) throws(Fault) {
    try data.willMove(at: offset, count: count)
    try sum(through: offset, count, .blocking)
  }

  /// Sums up to the end of a read that goes on where the sum stands, or near it.
  private func sum(through offset: Int64, _ count: Int, _ patience: Patience) throws(Fault) {
    var fault: Fault?
    check.withLock { check in
      fault = check.fault
      let end = min(size, offset + Int64(count))
      guard !check.isPassed, fault == nil, end > check.next || size == 0, offset - check.next <= Self.longestGap else {
        return
      }
      do throws(Fault) { try sum(&check, to: end, patience) } catch {
        fault = error
        if error.kind == .damaged { check.fault = error }
      }
    }
    if let fault { throw fault }
  }

  private func sum(_ check: inout Check, to end: Int64, _ patience: Patience) throws(Fault) {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { unsafe block.deallocate() }
    while check.next < end {
      let wanted = Int(min(Int64(Self.blockSize), end - check.next))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: block[..<wanted])
      let got = unsafe try data.read(into: part, at: check.next, patience)
      unsafe check.crc.update(UnsafeRawBufferPointer(rebasing: part[..<got]))
      check.next += Int64(got)
    }
    guard check.next == size else { return }
    guard check.crc.value == crc else { throw Fault(crc: crc, found: check.crc.value) }
    check.isPassed = true
    passed()
  }
}
