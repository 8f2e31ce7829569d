internal import CSevenZip
internal import Catalogue
public import WorkerKit

/// A writer of the bytes of an image's entries, followed by their faults (`MemberFaults`).
public struct DiskWriter {
  private let archive: any DiskReader
  private let output: JobOutput
  private var faults = MemberFaults()
  /// The offset at which the bytes of the next entry start.
  private var place: Int64 = 0

  private static let bufferSize = 256 << 10
  /// The minimum number of bytes between two reports of progress.
  private static let step: Int64 = 4 << 20

  /// Writes the entries `first` to `last`, numbered from 0. Throws if none of them exists.
  public static func write(
    _ entries: ClosedRange<Int>, of archive: any DiskReader, to output: JobOutput
  ) throws(JobFailure) {
    let count = try archive.countEntries()
    guard entries.lowerBound < count else { throw .removedEntry }
    var writer = DiskWriter(archive: archive, output: output)
    try writer.run(entries, of: count)
  }

  private init(archive: any DiskReader, output: JobOutput) {
    self.archive = archive
    self.output = output
  }

  private mutating func run(_ entries: ClosedRange<Int>, of count: Int) throws(JobFailure) {
    var decoded: [(entry: Int, start: Int64, size: Int64)] = []
    for entry in entries.lowerBound...min(entries.upperBound, count - 1) {
      let record = archive.outline(entry)
      let start = place
      place += record.room
      // Stored entries are read from the image.
      if record.room == 0 || record.flags.contains(.isStored) { continue }
      if try !copy(entry, from: start, record.size) { decoded.append((entry, start, record.size)) }
    }
    // The bytes of file systems can be read at any offset.
    if !decoded.isEmpty, let archive = archive as? DiskArchive { try decode(decoded, of: archive) }
    if entries.upperBound >= count, faults.end == nil { faults.stop(at: count, JobFailure.removedEntry.reason) }
    try unsafe output.write(faults.bytes.span.bytes, at: place)
  }

  /// Copies an entry that can be read at any offset. Returns false if it cannot.
  private mutating func copy(_ entry: Int, from start: Int64, _ size: Int64) throws(JobFailure) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
    defer { unsafe buffer.deallocate() }
    var done: Int64 = 0
    var reason: String?
    let output = output
    do throws(JobFailure) {
      let isDone: Bool? = try unsafe archive.withStream(of: entry) { (read) throws(JobFailure) in
        while done < size {
          let wanted = min(buffer.count, Int(clamping: size - done))
          let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
          let count = unsafe try read(piece, done)
          if count > 0 {
            try unsafe output.write(UnsafeRawBufferPointer(rebasing: piece[..<count]).bytes, at: start + done)
          }
          done += Int64(count)
          if count < wanted { break }
        }
        return true
      }
      guard isDone != nil else { return false }
      if done < size { reason = "ends after \(done) of \(size) bytes" }
    } catch {
      guard error.failure == .damaged else { throw error }
      reason = error.reason
    }
    if let reason { add(entry, good: done, reason) }
    return true
  }

  /// Decodes entries, which are ordered by their numbers.
  private mutating func decode(
    _ entries: [(entry: Int, start: Int64, size: Int64)], of archive: DiskArchive
  ) throws(JobFailure) {
    let output = output
    let isGrowing = entries.count == 1 || archive.format == .sevenZip
    var (next, current, done) = (0, entries[0], Int64(0))
    var (ended, failure, toldBytes) = (Set<Int>(), JobFailure?.none, Int64(0))
    var found: [(entry: Int, good: Int64, reason: String)] = []
    do throws(JobFailure) {
      try unsafe archive.extract(
        entries.map(\.entry),
        begin: { entry in
          done = 0
          while next < entries.count, entries[next].entry < entry { next += 1 }
          if next < entries.count { current = entries[next] }
        },
        write: { bytes in
          let count = min(Int64(bytes.count), current.size - done)
          guard count > 0 else { return true }
          do throws(JobFailure) {
            try unsafe output.write(
              UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]).bytes, at: current.start + done)
          } catch {
            failure = error
            return false
          }
          done += count
          // The last bytes are reported when their checksum is known.
          let reached = done < current.size ? current.start + done : current.start
          if isGrowing, found.isEmpty, reached - toldBytes >= Self.step {
            toldBytes = reached
            output.tell(bytes: reached, thousandths: 0)
          }
          return true
        },
        end: { entry, result in
          ended.insert(entry)
          switch result {
          case FFMOUNT_7Z_OK:
            if done < current.size { found.append((entry, done, "ends after \(done) of \(current.size) bytes")) }
          case FFMOUNT_7Z_LOCKED:
            failure = .locked
            return false
          case FFMOUNT_7Z_WRONG_SUM: found.append((entry, 0, EntryRecord.wrongSum))
          case FFMOUNT_7Z_UNSUPPORTED: found.append((entry, 0, "uses a method that is not read here"))
          default: found.append((entry, done < current.size ? done : 0, "cannot be decoded"))
          }
          return true
        })
    } catch {
      if let failure { throw failure }
      guard error.failure == .damaged else { throw error }
    }
    for fault in found { add(fault.entry, good: fault.good, fault.reason) }
    for entry in entries where !ended.contains(entry.entry) { add(entry.entry, good: 0, "cannot be decoded") }
  }

  private mutating func add(_ entry: Int, good: Int64, _ reason: String) {
    guard faults.end == nil else { return }
    if !faults.add(MemberFaults.Member(number: entry, good: good, reason: reason)) {
      faults.stop(at: entry, "is not read, because too many other entries are damaged")
    }
  }
}
