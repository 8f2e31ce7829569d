internal import Bytes
internal import CSevenZip
public import Catalogue
internal import WorkerKit

extension DiskArchive {
  public func outline(_ entry: Int) -> EntryRecord {
    let mode = mode(entry)
    let kind = mode.map { EntryRecord.Kind(mode: $0) } ?? .file
    // The library regards a link to a folder as a folder.
    let isLink = kind == .link || hasReparsePoint(entry) && windowsTarget(entry) != nil
    let isFolder = !isLink && (flag(FFMOUNT_7Z_IS_FOLDER, entry) || kind == .folder)
    var record = EntryRecord(isFolder ? .folder : isLink ? .link : kind)
    record.permissions =
      UInt16(truncatingIfNeeded: mode ?? (isFolder ? 0o755 : isReadOnly(entry) ? 0o444 : 0o644)) & 0o777
    if flag(FFMOUNT_7Z_IS_ENCRYPTED, entry) { record.flags.insert(.isEncrypted) }
    guard record.kind == .file else { return record }
    let size = number(FFMOUNT_7Z_SIZE, entry)
    record.size = Bounds.size(size ?? 0)
    if size == nil { record.flags.insert(.isAbsent) }
    if number(FFMOUNT_7Z_CRC, entry) != nil { record.flags.insert(.isChecked) }
    if isTable, let offset = number(FFMOUNT_7Z_OFFSET, entry), offset <= UInt64(input.count) {
      let place = Int64(offset)
      if record.size <= input.count - place {
        record.flags.insert(.isStored)
        record.place = place
      }
    }
    // An image may have any size, since its holes take no space.
    if !record.flags.contains(.isStored), record.size > EntryRecord.largestContent(ofArchiveOf: input.count),
      !hasStream(entry)
    {
      record.flags.insert(.isExcessive)
    }
    return record
  }

  /// Returns the whole record of an entry.
  ///
  /// - Parameters:
  ///   - targets: The targets of links that have to be decoded.
  ///   - budget: The maximum number of steps to find stored bytes, from which they are subtracted.
  func record(_ entry: Int, targets: [Int: [UInt8]], budget: inout UInt64) throws(JobFailure) -> EntryRecord {
    var record = outline(entry)
    if format == .sevenZip, let block = number(FFMOUNT_7Z_BLOCK, entry) { record.place = Int64(clamping: block) + 1 }
    if format.isPlain, record.room > 0,
      record.flags.isDisjoint(with: [.isStored, .isChecked, .isEncrypted]),
      let pieces = pieces(of: entry, size: record.size, budget: &budget)
    {
      record.store(pieces)
    }
    if let modified = time(FFMOUNT_7Z_MODIFIED, entry) {
      record.modified = modified
    } else {
      record.flags.insert(.isUndated)
    }
    record.path = text(FFMOUNT_7Z_PATH, entry) ?? []
    if [FFMOUNT_7Z_IS_STREAM, FFMOUNT_7Z_IS_INTERNAL, FFMOUNT_7Z_IS_DELETED].contains(where: { flag($0, entry) }) {
      record.flags.insert(.isInternal)
    }
    switch record.kind {
    case .special:
      record.text = EntryRecord.specialText(mode(entry) ?? 0)
    case .link:
      let decoded = targets[entry]
      if let target = decoded == nil ? try target(entry) : decoded {
        record.text = target
      } else {
        (record.kind, record.text) = (.special, EntryRecord.unreadableLink)
      }
    case .file where record.path.isEmpty: record.text = text(FFMOUNT_7Z_EXTENSION, entry) ?? []
    default: break
    }
    return record
  }

  /// Returns the paths of the first folders that the library adds for parts of a file system, each with a slash.
  func internalFolders(atMost most: Int) -> [[UInt8]] {
    var found: [[UInt8]] = []
    for entry in 0..<count where found.count < most && flag(FFMOUNT_7Z_IS_INTERNAL, entry) {
      if let path = text(FFMOUNT_7Z_PATH, entry), !path.isEmpty { found.append(path + [UInt8(ascii: "/")]) }
    }
    return found
  }

  /// Whether entries are ranges of the image.
  private var isTable: Bool { [.mbr, .gpt, .apm].contains(format) }

  /// Returns the mode as in stat(2). Archives of Unix programs have it in the upper half of the attributes.
  private func mode(_ entry: Int) -> UInt64? {
    if let mode = number(FFMOUNT_7Z_MODE, entry) { return mode }
    let isExtended: UInt64 = 0x8000
    return number(FFMOUNT_7Z_ATTRIBUTES, entry).flatMap { $0 & isExtended != 0 ? $0 >> 16 & 0xffff : nil }
  }

  // The attributes of Windows ([MS-FSCC] 2.6).
  private func isReadOnly(_ entry: Int) -> Bool { (number(FFMOUNT_7Z_ATTRIBUTES, entry) ?? 0) & 1 != 0 }
  private func hasReparsePoint(_ entry: Int) -> Bool { (number(FFMOUNT_7Z_ATTRIBUTES, entry) ?? 0) & 0x400 != 0 }

  /// Returns the target of a symbolic link or junction of Windows, with slashes. Returns `nil` if the entry is neither.
  private func windowsTarget(_ entry: Int) -> [UInt8]? { reparsePoint(of: entry).flatMap { ReparsePoint($0)?.target } }

  /// Returns the target of a symbolic link that can be read without decoding others. Returns `nil` if there is none.
  private func target(_ entry: Int) throws(JobFailure) -> [UInt8]? {
    if let target = text(FFMOUNT_7Z_LINK, entry), !target.isEmpty { return target }
    if hasReparsePoint(entry), let target = windowsTarget(entry) { return target }
    guard let size = targetSize(entry) else { return nil }
    do throws(JobFailure) {
      let read: [UInt8]? = try unsafe withStream(of: entry) { (read) throws(JobFailure) in
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe buffer.deallocate() }
        let count = unsafe try read(buffer, 0)
        return unsafe Array(buffer[..<count])
      }
      return read
    } catch {
      guard error.failure == .damaged else { throw error }
      return nil
    }
  }

  /// Returns the size of a link's target that is among the bytes of files. Returns `nil` if it is too large for a target.
  private func targetSize(_ entry: Int) -> Int? {
    let longest: UInt64 = 4096
    return number(FFMOUNT_7Z_SIZE, entry).flatMap { $0 > 0 && $0 <= longest ? Int($0) : nil }
  }

  /// Returns the targets of symbolic links that have to be decoded, in one pass. Throws if one is encrypted, unless they
  /// are read `withoutPassword`.
  func decodedTargets(withoutPassword: Bool) throws(JobFailure) -> [Int: [UInt8]] {
    var sizes: [Int: Int] = [:]
    let links = (0..<count).filter { entry in
      guard let mode = mode(entry), EntryRecord.Kind(mode: mode) == .link, let size = targetSize(entry),
        !(withoutPassword && flag(FFMOUNT_7Z_IS_ENCRYPTED, entry)), text(FFMOUNT_7Z_LINK, entry) ?? [] == [],
        !hasStream(entry)
      else { return false }
      sizes[entry] = size
      return true
    }
    if links.isEmpty { return [:] }
    var (targets, current): ([Int: [UInt8]], [UInt8]) = ([:], [])
    do throws(JobFailure) {
      try unsafe extract(links) { _ in
        current = []
      } write: { piece in
        unsafe current += piece
        return current.count <= 4096
      } end: { entry, result in
        if result == FFMOUNT_7Z_OK, current.count == sizes[entry] { targets[entry] = current }
        return true
      }
    } catch { guard error.failure == .damaged else { throw error } }
    return targets
  }
}

extension EntryRecord.Kind {
  // <sys/stat.h>
  private static let typeMask: UInt64 = 0o170000
  fileprivate static let special: [UInt64: String] = [
    0o020000: "character device", 0o060000: "block device", 0o010000: "named pipe", 0o140000: "socket",
  ]

  /// Creates a kind from a mode as in stat(2).
  init(mode: UInt64) {
    switch mode & Self.typeMask {
    case 0o040000: self = .folder
    case 0o120000: self = .link
    case let type: self = Self.special[type] == nil ? .file : .special
    }
  }

  fileprivate static func text(mode: UInt64) -> String { special[mode & typeMask] ?? "" }
}

extension EntryRecord {
  /// Returns the text of a special file with this mode.
  static func specialText(_ mode: UInt64) -> [UInt8] { Array(Kind.text(mode: mode).utf8) }

  static let unreadableLink = Array("symbolic link with an unreadable target".utf8)

  /// Makes the bytes those of some valid pieces of the image. Does nothing if there are none.
  mutating func store(_ pieces: [SparseSource.Piece]) {
    guard let first = pieces.first else { return }
    flags.insert(.isStored)
    if pieces.count == 1, first.count == size {
      place = first.start
    } else {
      self.pieces = pieces
    }
  }
}
