internal import Catalogue
internal import Glibc
public import WorkerKit

/// Writes the bytes of an archive's entries one after the other, and behind them what is wrong with them: `MemberFaults`.
public struct MemberWriter {
  private let archive: ArchiveFile
  private let output: JobOutput
  private var faults = MemberFaults()
  /// Where the next entry's bytes start.
  private var place: Int64 = 0
  /// Bytes that are yet to be written, and where.
  private var held: [UInt8] = []
  private var heldAt: Int64 = 0
  private var toldBytes: Int64 = 0
  private var toldAt: UInt64 = 0

  private static let bufferSize = 256 << 10
  /// In nanoseconds.
  private static let pause: UInt64 = 50_000_000

  /// Writes the entries `first` to `last`, numbered from 0. Throws when there is none of them.
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
    var next = 0
    do throws(JobFailure) {
      while next <= entries.upperBound, try archive.next() {
        next = archive.number + 1
        if entries.contains(archive.number), try !take() { break }
      }
      if next <= entries.upperBound, faults.end == nil { faults.stop(at: next, "is not in the archive any more") }
    } catch {
      guard error.failure == .damaged || error.failure == .locked else { throw error }
      faults.stop(at: next, error.reason)
    }
    try flush()
    try unsafe output.write(faults.bytes.span.bytes, at: place)
  }

  /// Writes the entry; false when nothing more is to be read.
  private mutating func take() throws(JobFailure) -> Bool {
    let record = archive.record
    var room = record.room
    guard room > 0 || !archive.hasSize && record.kind == .file else { return true }
    let start = place
    if !archive.hasSize { room = EntryRecord.largestContent(ofArchiveOf: Int64(archive.input.count)) }
    var (end, reason): (Int64, String?) = (0, nil)
    do throws(JobFailure) {
      while let block = unsafe try archive.block() {
        let (count, offset) = unsafe (Int64(block.bytes.count), block.offset)
        if count == 0 { continue }
        guard offset >= end, offset <= room, count <= room - offset else {
          reason = "has more bytes than it says, which is \(room)"
          if offset >= end, offset < room { unsafe try add(block, atMost: Int(room - offset), from: start) }
          break
        }
        // What is read from the archive itself is not copied.
        let isStored = unsafe archive.isPlain && archive.place(of: block) != nil
        if !isStored {
          unsafe try add(block, atMost: Int(count), from: start)
        }
        end = offset + count
      }
    } catch {
      guard error.failure == .damaged else { throw error }
      reason = error.reason
    }
    if !archive.hasSize { room = end }
    // A hole at the end of a sparse file has no block.
    if reason == nil, end < room { reason = "ends after \(end) of \(room) bytes" }
    place = start + room
    if let reason, !faults.add(MemberFaults.Member(number: archive.number, good: end, reason: reason)) {
      faults.stop(at: archive.number, "is not read, since so much else is damaged")
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
    if heldAt - toldBytes > Int64(4 * Self.bufferSize) { try tell() }
  }

  private mutating func flush() throws(JobFailure) {
    if !held.isEmpty { try unsafe output.write(held.span.bytes, at: heldAt) }
    heldAt += Int64(held.count)
    held.removeAll(keepingCapacity: true)
  }

  /// Lets others read what there is, unless some of it is no good.
  private mutating func tell() throws(JobFailure) {
    guard faults.members.isEmpty else { return }
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
