internal import Catalogue
public import WorkerKit

/// A writer of a list of an archive's entries, with one `EntryRecord` for each.
public struct EntryLister {
  private let archive: ArchiveFile
  private let output: JobOutput
  private var written: [UInt8] = []

  private static let bufferSize = 256 << 10

  /// Writes the list of an archive's entries. Throws if no entry can be read.
  public static func list(_ input: JobInput, to output: JobOutput) throws(JobFailure) {
    var lister = EntryLister(archive: try ArchiveFile(input), output: output)
    try lister.run()
  }

  private init(archive: ArchiveFile, output: JobOutput) {
    self.archive = archive
    self.output = output
  }

  private mutating func run() throws(JobFailure) {
    var end = EntryRecord(.end)
    do throws(JobFailure) {
      while try archive.next() {
        var record = archive.record
        if record.room > 0 { place(&record) }
        try write(record)
      }
    } catch {
      // The entries before the failure are valid.
      guard archive.number >= 0, error.failure == .damaged || error.failure == .locked else { throw error }
      end.text = Array(error.reason.utf8)
    }
    if end.text.isEmpty, archive.lacksNextPart { end.text = Array("continues in a part that is missing".utf8) }
    if end.text.isEmpty, archive.hasWrongHeader {
      end.text = Array("does not match the checksum of its header, at byte 8".utf8)
    }
    if end.text.isEmpty, let gap = archive.gap { end.text = Array(gap.utf8) }
    if end.text.isEmpty, archive.isCutOff { end.text = Array("is cut off: files may be missing".utf8) }
    end.size = archive.isSolid ? 1 : 0
    try write(end)
    try unsafe output.write(written.span.bytes)
  }

  private mutating func write(_ record: EntryRecord) throws(JobFailure) {
    written += record.bytes
    guard written.count >= Self.bufferSize else { return }
    try unsafe output.write(written.span.bytes)
    written = []
  }

  /// Determines the offset of a file's bytes if the archive stores them contiguously and without compression.
  private func place(_ record: inout EntryRecord) {
    guard archive.isPlain else { return }
    var (start, end): (Int64?, Int64) = (nil, 0)
    let expected = CpioHeader.sum(archive.input, at: archive.headerPlace)
    var sum: UInt32 = 0
    var isWhole = true
    do throws(JobFailure) {
      while isWhole || expected != nil, let block = unsafe try archive.block() {
        let count = unsafe Int64(block.bytes.count)
        if count == 0 { continue }
        let place = unsafe archive.place(of: block)
        if start == nil { start = place }
        if unsafe block.offset != end || place == nil || place != start.map({ $0 + end }) { isWhole = false }
        end = unsafe max(end, block.offset + count)
        // The library copies the bytes of small archives, whose blocks then have no offset.
        if expected != nil { sum = unsafe block.bytes.reduce(sum) { $0 &+ UInt32($1) } }
      }
    } catch { isWhole = false }
    if let expected { record.flags.insert(expected == sum && end == record.size ? .isChecked : .isWrong) }
    guard isWhole, let start, end == record.size else { return }
    record.flags.insert(.isStored)
    record.place = start
  }
}
