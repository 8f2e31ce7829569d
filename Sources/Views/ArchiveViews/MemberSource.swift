internal import Bytes
internal import Catalogue
internal import Synchronization

/// What a worker has unpacked of some entries, or is unpacking.
final class UnpackedRun: Sendable {
  let run: EntryRun
  fileprivate let bytes: any ByteSource
  private let faults = Mutex<MemberFaults?>(nil)
  private let hasFailed = Mutex(false)

  init(_ run: EntryRun, _ bytes: any ByteSource) {
    self.run = run
    self.bytes = bytes
  }

  /// Whether it is to be had again from here: what was being unpacked and is whole now is better had as a file.
  var isUsable: Bool { !hasFailed.withLock { $0 } && (!wasGrowing || !bytes.hasKnownSize) }

  private var wasGrowing: Bool { bytes.extent(at: 0, count: 1) == nil }

  /// Reads some bytes; as many as wanted, unless the run ends before.
  fileprivate func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience
  ) throws(Fault) {
    var done = 0
    do throws(Fault) {
      while done < buffer.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = unsafe try bytes.read(into: rest, at: offset + Int64(done), patience)
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

  /// What is known to be wrong with an entry: all once everything is unpacked. Until then only good bytes are read.
  func fault(_ number: Int, _ patience: Patience) throws(Fault) -> MemberFaults.Member? {
    guard bytes.hasKnownSize else { return nil }
    if let known = faults.withLock({ $0 }) { return known.fault(number) }
    // Its end is known, too, once unpacking has failed, for want of room, say.
    do throws(Fault) { try bytes.findSize(patience) } catch {
      if !error.isDelay { hasFailed.withLock { $0 = true } }
      throw error
    }
    let tail = Int64(MemberFaults.tailSize)
    guard bytes.size >= tail,
      let size = MemberFaults.size(try bytes.bytes(at: bytes.size - tail, count: Int(tail), patience)),
      size <= bytes.size - tail,
      let found = MemberFaults(try bytes.bytes(at: bytes.size - tail - size, count: Int(size), patience))
    else { throw Fault(.damaged, "expected a list of faults behind the unpacked bytes") }
    faults.withLock { $0 = found }
    return found.fault(number)
  }
}

/// An entry among others that are unpacked together: its good bytes, and then a fault.
final class MemberSource: ByteSource {
  private let unpacked: UnpackedRun
  private let start: Int64
  let size: Int64
  private let number: Int
  /// Whether it is known from the start to break off: else the kernel would take the last good byte for the end.
  private let isCut: Bool

  init(_ unpacked: UnpackedRun, start: Int64, size: Int64, number: Int, _ patience: Patience) throws(Fault) {
    isCut = try unpacked.fault(number, patience).map { $0.good < size } ?? false
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

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    var wanted = Int(min(Int64(buffer.count), size - offset))
    let known = try unpacked.fault(number, patience)
    if let known, known.good < size {
      let end = isCut ? offset + 1 : offset + Int64(wanted)
      guard end <= known.good else { throw Fault(.damaged, known.reason) }
      wanted = Int(min(Int64(wanted), known.good - offset))
    }
    unsafe try unpacked.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: start + offset, patience)
    // It may have become whole meanwhile, with zeros where nothing could be read.
    if known == nil, let fault = try unpacked.fault(number, patience), fault.good < offset + Int64(wanted) {
      throw Fault(.damaged, fault.reason)
    }
    return wanted
  }

  /// Throws what to wait for until all of it is unpacked.
  func waitForEnd(_ patience: Patience) throws(Fault) {
    _ = try unlessDelayed { () throws(Fault) in try bytes(at: size - 1, count: 1, patience) }
  }

  func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size, isGood else { return nil }
    return unpacked.bytes.extent(at: start + offset, count: Int(min(Int64(count), size - offset)))
  }

  /// Whether it is known to be whole.
  private var isGood: Bool {
    guard unpacked.bytes.hasKnownSize else { return false }
    do throws(Fault) {
      let fault = try unpacked.fault(number, .immediate)
      return fault.map { $0.good >= size } ?? true
    } catch { return false }
  }

  func verify() throws(Fault) { try unpacked.bytes.verify() }

  /// The checksum is compared when all of the run is unpacked.
  func assurance(of range: Range<Int64>) -> Assurance { isGood ? .checked : .open }

  func willMove(at offset: Int64, count: Int, _ patience: Patience) throws(Fault) {
    try unpacked.bytes.willMove(at: start + min(max(0, offset), size), count: count, patience)
  }
}
