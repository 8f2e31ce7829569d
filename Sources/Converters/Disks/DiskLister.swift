internal import CSevenZip
internal import Catalogue
public import WorkerKit

/// A writer of a list of an image's entries, with one `EntryRecord` for each.
public enum DiskLister {
  private static let bufferSize = 256 << 10
  /// The maximum number of steps to find the stored bytes of all entries.
  private static let mostSteps: UInt64 = 2 << 20
  /// The size above which entries are read by parts, in bytes.
  private static let smallSize: Int64 = 1 << 20
  /// The maximum number of folders for parts of a file system that are not files, such as its journal.
  private static let mostInternals = 16
  /// The library's flags for an archive whose list is incomplete: an unreadable or missing part of the headers.
  private static let damage: UInt64 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 9 | 1 << 10
  private static let unsupported: UInt64 = 1 << 7 | 1 << 8

  /// Writes the list. Throws if the image cannot be read, or an encrypted link unless it is `withoutPassword`.
  public static func list(
    _ archive: DiskArchive, withoutPassword: Bool = false, to output: JobOutput
  ) throws(JobFailure) {
    var written: [UInt8] = []
    var access = EntryRecord.Access.random
    let internals = archive.internalFolders(atMost: mostInternals)
    let targets = try archive.decodedTargets(withoutPassword: withoutPassword)
    var budget = mostSteps
    for entry in 0..<archive.count {
      var record = try archive.record(entry, targets: targets, budget: &budget)
      if internals.contains(where: { record.path.starts(with: $0) }) { record.flags.insert(.isInternal) }
      if access == .random, record.size > smallSize, !record.flags.contains(.isStored), !archive.hasStream(entry) {
        access = .separate
      }
      written += record.bytes
      guard written.count >= bufferSize else { continue }
      try unsafe output.write(written.span.bytes)
      written = []
    }
    var end = EntryRecord(.end)
    let isSolid = archive.number(FFMOUNT_7Z_IS_SOLID) ?? 0 != 0
    // The blocks of 7z are in the records.
    end.size = (archive.format == .sevenZip ? .separate : isSolid ? .sequential : access).rawValue
    let flags = archive.number(FFMOUNT_7Z_ERROR_FLAGS) ?? 0
    let size = archive.number(FFMOUNT_7Z_PHYSICAL_SIZE) ?? 0
    if size > UInt64(archive.input.count) {
      end.text = Array("ends after \(archive.input.count) of \(size) bytes: files may be missing or incomplete".utf8)
    } else if flags & damage != 0 {
      end.text = Array("is damaged: files may be missing".utf8)
    } else if flags & unsupported != 0 {
      end.text = Array("uses features that are not read here: files may be missing".utf8)
    }
    written += end.bytes
    try unsafe output.write(written.span.bytes)
  }
}
