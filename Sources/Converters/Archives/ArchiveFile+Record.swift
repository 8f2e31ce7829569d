internal import Bytes
internal import CArchive
internal import Catalogue
internal import Glibc
internal import WorkerKit

extension ArchiveFile {
  /// The record of the current entry, without the offset of its bytes.
  var record: EntryRecord {
    var record = EntryRecord(kind)
    let mode = unsafe archive_entry_perm(entry)
    record.permissions = UInt16(truncatingIfNeeded: mode) & 0o777
    if unsafe archive_entry_mtime_is_set(entry) != 0 {
      record.modified = unsafe Timestamp(
        seconds: Int64(archive_entry_mtime(entry)), nanoseconds: Int32(clamping: archive_entry_mtime_nsec(entry)))
    } else {
      record.flags.insert(.isUndated)
    }
    record.path = unsafe Self.text(archive_entry_pathname(entry), archive_entry_pathname_w(entry))
    switch record.kind {
    case .hardLink:
      record.text =
        unsafe copies[number] ?? Self.text(archive_entry_hardlink(entry), archive_entry_hardlink_w(entry))
    case .link: record.text = unsafe Self.text(archive_entry_symlink(entry), archive_entry_symlink_w(entry))
    case .special: record.text = Array(special.utf8)
    case .file, .folder, .end: break
    }
    if record.kind == .file || record.kind == .hardLink {
      record.size = Bounds.size(Int64(unsafe archive_entry_size(entry)))
      if record.size > EntryRecord.largestContent(ofArchiveOf: Int64(input.count)) { record.flags.insert(.isExcessive) }
      let isEncrypted = unsafe archive_entry_is_data_encrypted(entry) != 0
      if isEncrypted || encrypted.contains(number) { record.flags.insert(.isEncrypted) }
      if hasChecksums, !unchecked.contains(number) { record.flags.insert(.isChecked) }
      if isListOnly { record.flags.insert(.isAbsent) }
      if isTableOfNames(record.path) { record.flags.insert(.isInternal) }
    }
    return record
  }

  // AE_IFDIR and so on are macros that are not imported.
  private static let folder: mode_t = 0o040000
  private static let link: mode_t = 0o120000
  private static let characters: mode_t = 0o020000
  private static let blocks: mode_t = 0o060000
  private static let pipe: mode_t = 0o010000
  private static let socket: mode_t = 0o140000

  private var kind: EntryRecord.Kind {
    if unsafe copies[number] != nil || archive_entry_hardlink(entry) != nil { return .hardLink }
    switch unsafe archive_entry_filetype(entry) {
    case Self.folder: return .folder
    case Self.link: return .link
    case Self.characters, Self.blocks, Self.pipe, Self.socket:
      // 7z stores the bytes read from a pipe as an entry of that type.
      return unsafe archive_entry_size(entry) > 0 ? .file : .special
    default: return .file
    }
  }

  private var special: String {
    let device = unsafe "\(archive_entry_rdevmajor(entry)):\(archive_entry_rdevminor(entry))"
    switch unsafe archive_entry_filetype(entry) {
    case Self.characters: return "character device \(device)"
    case Self.blocks: return "block device \(device)"
    case Self.pipe: return "named pipe"
    default: return "socket"
    }
  }

  /// Returns the recorded bytes, or the characters in UTF-8 if only those are recorded.
  private static func text(_ bytes: UnsafePointer<CChar>?, _ letters: UnsafePointer<wchar_t>?) -> [UInt8] {
    if let bytes = unsafe bytes { return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: strlen(bytes))) }
    guard let letters = unsafe letters else { return [] }
    var text = String.UnicodeScalarView()
    var index = 0
    while unsafe letters[index] != 0 {
      text.append(unsafe Unicode.Scalar(UInt32(bitPattern: letters[index])) ?? "?")
      index += 1
    }
    return Array(String(text).utf8)
  }
}
