internal import CSevenZip
internal import Catalogue
public import WorkerKit

extension DiskArchive {
  /// The maximum number of steps to find the stored bytes of all entries.
  private static let mostSteps: UInt64 = 2 << 20
  /// The size above which entries are read by parts, in bytes.
  private static let smallSize: Int64 = 1 << 20
  /// The maximum number of folders for parts of a file system that are not files, such as its journal.
  private static let mostInternals = 16
  /// The library's flags for an archive whose list is incomplete: an unreadable or missing part of the headers.
  private static let damage: UInt64 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 9 | 1 << 10
  private static let unsupported: UInt64 = 1 << 7 | 1 << 8

  public func list(withoutPassword: Bool, to output: JobOutput) throws(JobFailure) {
    var list = EntryListWriter(output)
    var access = EntryRecord.Access.random
    let internals = internalFolders(atMost: Self.mostInternals)
    let targets = try decodedTargets(withoutPassword: withoutPassword)
    var budget = Self.mostSteps
    for entry in 0..<count {
      var record = try record(entry, targets: targets, budget: &budget)
      if internals.contains(where: { record.path.starts(with: $0) }) { record.flags.insert(.isInternal) }
      if access == .random, record.size > Self.smallSize, !record.flags.contains(.isStored), !hasStream(entry) {
        access = .separate
      }
      try list.add(record)
    }
    let isSolid = number(FFMOUNT_7Z_IS_SOLID) ?? 0 != 0
    // The blocks of 7z are in the records.
    if format == .sevenZip { access = .separate } else if isSolid { access = .sequential }
    let flags = number(FFMOUNT_7Z_ERROR_FLAGS) ?? 0
    let reason =
      EntryListWriter.earlyEnd(input, of: number(FFMOUNT_7Z_PHYSICAL_SIZE) ?? 0)
      ?? (flags & Self.damage != 0 ? EntryListWriter.damage : nil)
      ?? (flags & Self.unsupported != 0 ? EntryListWriter.unsupported : nil)
    try list.end(access, reason)
  }
}
