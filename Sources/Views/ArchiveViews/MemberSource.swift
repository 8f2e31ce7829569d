internal import Bytes
internal import Catalogue
internal import Locks

/// A run of entries that a worker has unpacked or is unpacking.
final class UnpackedRun: Sendable {
  let run: EntryRun
  fileprivate let bytes: any ByteSource
  private let faults = UnfairLock<MemberFaults?>(nil)
  private let hasFailed = UnfairLock(false)

  init(_ run: EntryRun, _ bytes: any ByteSource) {
    self.run = run
    self.bytes = bytes
  }

  /// Whether the run can be reused. A run that has been completed since is opened again as a file instead.
  var isUsable: Bool { !hasFailed.withLock { $0 } && (!wasGrowing || !bytes.hasKnownSize) }

  private var wasGrowing: Bool { bytes.extent(at: 0, count: 1) == nil }

  /// Reads bytes until the buffer is full. Throws `damaged` if the run ends before.
  fileprivate func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) {
    var done = 0
    do throws(Fault) {
      while done < buffer.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = unsafe try bytes.read(into: rest, at: offset + Int64(done), blocking)
        guard count > 0 else {
          throw Fault(.damaged, "expected \(buffer.count) unpacked bytes, found \(done)", atByte: offset)
        }
        done += count
      }
    } catch {
      if !error.isDelay { hasFailed.withLock { $0 = true } }
      throw error
    }
  }

  /// Returns the known fault of an entry. All faults are known when the run is unpacked. Until then, only intact bytes
  /// can be read.
  func fault(_ number: Int, _ blocking: BlockingMode) throws(Fault) -> MemberFaults.Member? {
    guard bytes.hasKnownSize else { return nil }
    if let known = faults.withLock({ $0 }) { return known.fault(number) }
    // The end is also known after unpacking has failed, for instance for lack of space.
    do throws(Fault) { try bytes.findSize(blocking) } catch {
      if !error.isDelay { hasFailed.withLock { $0 = true } }
      throw error
    }
    let tail = Int64(MemberFaults.tailSize)
    guard bytes.size >= tail,
      let size = MemberFaults.size(try bytes.bytes(at: bytes.size - tail, count: Int(tail), blocking)),
      size <= bytes.size - tail,
      let found = MemberFaults(try bytes.bytes(at: bytes.size - tail - size, count: Int(size), blocking))
    else { throw Fault(.damaged, "expected a list of faults after the unpacked bytes") }
    faults.withLock { $0 = found }
    return found.fault(number)
  }
}

/// An entry of a run: its intact bytes, followed by its fault, if any.
final class MemberSource: ByteSource {
  private let unpacked: UnpackedRun
  private let start: Int64
  let size: Int64
  private let number: Int
  /// Whether the entry was known to be truncated when it was opened. The kernel would otherwise take its last intact
  /// byte for the end.
  private let isCut: Bool

  init(_ unpacked: UnpackedRun, start: Int64, size: Int64, number: Int, _ blocking: BlockingMode) throws(Fault) {
    isCut = try unpacked.fault(number, blocking).map { $0.good < size } ?? false
    self.unpacked = unpacked
    self.start = max(0, start)
    self.size = size
    self.number = number
  }

  var hasKnownSize: Bool { !isCut }

  var isSettling: Bool { unpacked.bytes.isSettling }

  var identity: ByteIdentity? {
    unpacked.bytes.identity?.adding(.range, UInt64(bitPattern: start), UInt64(bitPattern: size))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    var wanted = Int(min(Int64(buffer.count), size - offset))
    let known = try unpacked.fault(number, blocking)
    if let known, known.good < size {
      let end = isCut ? offset + 1 : offset + Int64(wanted)
      guard end <= known.good else { throw Fault(.damaged, known.reason) }
      wanted = Int(min(Int64(wanted), known.good - offset))
    }
    unsafe try unpacked.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: start + offset, blocking)
    // The run may have been completed in the meantime, with zeros for unreadable bytes.
    if known == nil, let fault = try unpacked.fault(number, blocking), fault.good < offset + Int64(wanted) {
      throw Fault(.damaged, fault.reason)
    }
    return wanted
  }

  /// Throws a delay until the whole entry is unpacked. Other faults are ignored.
  func waitForEnd(_ blocking: BlockingMode) throws(Fault) {
    _ = try unlessDelayed { () throws(Fault) in try bytes(at: size - 1, count: 1, blocking) }
  }

  func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size, isGood else { return nil }
    return unpacked.bytes.extent(at: start + offset, count: Int(min(Int64(count), size - offset)))
  }

  /// Whether the entry is known to be intact.
  private var isGood: Bool {
    guard unpacked.bytes.hasKnownSize else { return false }
    do throws(Fault) {
      let fault = try unpacked.fault(number, .immediate)
      return fault.map { $0.good >= size } ?? true
    } catch { return false }
  }

  func verify() throws(Fault) { try unpacked.bytes.verify() }

  /// Returns `checked` after the whole run is unpacked, which compares the checksum.
  func assurance(of range: Range<Int64>) -> Assurance { isGood ? .checked : .open }

  func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try unpacked.bytes.willMove(at: start + min(max(0, offset), size), count: count, blocking)
  }
}
