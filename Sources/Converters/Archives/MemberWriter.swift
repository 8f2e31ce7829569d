internal import Catalogue
internal import Codecs
internal import Glibc
public import WorkerKit

/// A writer of the bytes of an archive's entries, followed by their faults (`MemberFaults`).
public struct MemberWriter {
  private var archive: ArchiveFile
  private let output: JobOutput
  private var faults = MemberFaults()
  /// The offset at which the next entry's bytes start.
  private var place: Int64 = 0
  /// The bytes not yet written, and their offset.
  private var held: [UInt8] = []
  private var heldAt: Int64 = 0
  private var toldBytes: Int64 = 0
  private var toldAt: UInt64 = 0

  private static let bufferSize = 256 << 10
  /// The maximum number of times the archive is opened again after an entry at which the library failed.
  private static let mostTrials = 64
  /// The maximum for solid archives, where all earlier entries are decoded again.
  private static let mostSolidTrials = 4
  /// The minimum time between two reports, in nanoseconds.
  private static let pause: UInt64 = 50_000_000

  /// Writes the entries `first` to `last`, numbered from 0. Throws if none of them exists.
  public static func write(
    _ entries: ClosedRange<Int>, of input: JobInput, to output: JobOutput
  ) throws(JobFailure) {
    var writer = MemberWriter(archive: try ArchiveFile(input), output: output)
    try writer.run(entries)
  }

  private init(archive: ArchiveFile, output: JobOutput) {
    self.archive = archive
    self.output = output
    held.reserveCapacity(Self.bufferSize)
  }

  private mutating func run(_ entries: ClosedRange<Int>) throws(JobFailure) {
    var (next, trials) = (0, 0)
    do throws(JobFailure) {
      while next <= entries.upperBound, try archive.next() {
        next = archive.number + 1
        if entries.contains(archive.number), try !take() { break }
        guard archive.isBroken, next <= entries.upperBound else { continue }
        // The library must not be used any further. Other entries may not depend on the damaged one.
        if trials < (archive.isSolid ? Self.mostSolidTrials : Self.mostTrials) {
          trials += 1
          archive = try ArchiveFile(archive.input)
          while archive.number < next - 1, try archive.next() {}
        } else {
          break
        }
      }
      if archive.isBroken, next <= entries.upperBound, faults.end == nil, let last = faults.members.last {
        faults.stop(at: next, "follows a damaged entry, and cannot be read without it: \(last.reason)")
      }
      if next <= entries.upperBound, faults.end == nil { faults.stop(at: next, "is no longer in the archive") }
    } catch {
      guard error.failure == .damaged || error.failure == .locked else { throw error }
      faults.stop(at: next, error.reason)
    }
    try flush()
    try unsafe output.write(faults.bytes.span.bytes, at: place)
  }

  /// Writes the entry. Returns false if no more entries are to be read.
  private mutating func take() throws(JobFailure) -> Bool {
    let record = archive.record
    let room = record.room
    guard room > 0 else { return true }
    let start = place
    if record.flags.contains(.isEncrypted) {
      place = start + room
      return faults.add(MemberFaults.Member(number: archive.number, good: 0, reason: EntryRecord.encryption))
    }
    var (end, reason): (Int64, String?) = (0, nil)
    let expected = archive.uncheckedSums[archive.number].flatMap { $0.size == room ? $0.crc : nil }
    var sum = CRC32()
    do throws(JobFailure) {
      while let block = unsafe try archive.block() {
        let (count, offset) = unsafe (Int64(block.bytes.count), block.offset)
        if count == 0 { continue }
        guard offset >= end, offset <= room, count <= room - offset else {
          reason = "has more bytes than its recorded size of \(room)"
          if offset >= end, offset < room { unsafe try add(block, atMost: Int(room - offset), from: start) }
          break
        }
        if expected != nil { unsafe sum.update(block.bytes) }
        // Bytes that are read from the archive itself are not copied.
        let isStored = unsafe archive.isPlain && archive.place(of: block) != nil
        if !isStored {
          unsafe try add(block, atMost: Int(count), from: start)
          // The last bytes are reported when their checksum is known.
          if offset + count < room { try tell(each: Int64(4 * Self.bufferSize)) }
        }
        end = offset + count
      }
    } catch {
      guard error.failure == .damaged else { throw error }
      reason = error.reason
      // If all bytes exist but do not match their checksum, any of them may be wrong.
      if archive.isWrong || end >= room { end = 0 }
    }
    if reason == nil, end < room, !archive.endsInHoles {
      reason = "ends after \(end) of \(room) bytes" + (archive.lacksNextPart ? ": the next part is missing" : "")
    }
    if reason == nil, let expected, expected != sum.value { (end, reason) = (0, EntryRecord.wrongSum) }
    place = start + room
    if let reason, !faults.add(MemberFaults.Member(number: archive.number, good: end, reason: reason)) {
      faults.stop(at: archive.number, "is not read, because too many other entries are damaged")
      return false
    }
    try tell()
    return true
  }

  /// Writes a block of an entry that starts at `start`.
  private mutating func add(_ block: ArchiveFile.Block, atMost count: Int, from start: Int64) throws(JobFailure) {
    let at = unsafe start + block.offset
    if at != heldAt + Int64(held.count) || held.count + count > Self.bufferSize {
      try flush()
      heldAt = at
    }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: block.bytes.prefix(count))
    if count >= Self.bufferSize {
      try unsafe output.write(bytes.bytes, at: at)
      heldAt = at + Int64(count)
    } else {
      unsafe held.append(contentsOf: bytes)
    }
  }

  private mutating func flush() throws(JobFailure) {
    if !held.isEmpty { try unsafe output.write(held.span.bytes, at: heldAt) }
    heldAt += Int64(held.count)
    held.removeAll(keepingCapacity: true)
  }

  /// Lets readers use the bytes written so far, if at least `least` are new and no entry is damaged.
  private mutating func tell(each least: Int64 = 0) throws(JobFailure) {
    guard faults.members.isEmpty, heldAt - toldBytes >= least else { return }
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let time = UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    guard time - toldAt > Self.pause else { return }
    try flush()
    guard heldAt > toldBytes else { return }
    (toldAt, toldBytes) = (time, heldAt)
    output.tell(bytes: toldBytes, thousandths: archive.thousandths)
  }
}
