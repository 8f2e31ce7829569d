internal import Bytes
internal import CFileSystems
public import Catalogue
public import WorkerKit

/// An image of a file system that libext2fs or The Sleuth Kit reads.
@safe public final class FileSystemImage: DiskReader {
  private let input: PiecewiseInput
  private let handle: OpaquePointer
  /// Whether the entries are the deleted files.
  private let isOfDeleted: Bool
  /// The libraries' numbers of the entries' files. `nil` before the folders have been read.
  private var numbers: [UInt64]?
  /// Memory for the library's answers.
  private var areas: [ffmount_fs_area] = []

  /// Opens an image. Returns `nil` if it is of a format that 7-Zip reads alone. Throws if it is damaged.
  ///
  /// - Parameter isOfDeleted: Whether the entries are the deleted files, instead of the others.
  public convenience init?(_ input: PiecewiseInput, ofDeleted isOfDeleted: Bool) throws(JobFailure) {
    let kind: ffmount_fs_kind? =
      switch try input.diskFormat() {
      case .ext: isOfDeleted ? FFMOUNT_FS_OLD_EXT : FFMOUNT_FS_EXT
      case .ntfs: FFMOUNT_FS_NTFS
      case .exFAT: FFMOUNT_FS_EXFAT
      case .fat: isOfDeleted ? FFMOUNT_FS_FAT : nil
      default: nil
      }
    guard let kind else { return nil }
    try self.init(input, kind, ofDeleted: isOfDeleted)
  }

  private init(_ input: PiecewiseInput, _ kind: ffmount_fs_kind, ofDeleted isOfDeleted: Bool) throws(JobFailure) {
    self.input = input
    self.isOfDeleted = isOfDeleted
    var source = unsafe ffmount_fs_input(
      context: Unmanaged.passUnretained(input).toOpaque(), size: UInt64(input.count), read: PiecewiseInput.reader)
    var opened: OpaquePointer?
    let result = unsafe ffmount_fs_open(kind, &source, &opened)
    guard result == FFMOUNT_FS_OK, let handle = unsafe opened else { throw Self.failure(result) }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe ffmount_fs_close(handle) }

  private static func failure(_ result: ffmount_fs_result) -> JobFailure {
    switch result {
    case FFMOUNT_FS_ABSENT:
      JobFailure(.unsupported, "needs The Sleuth Kit's library (apt install \(SleuthKit.package))")
    case FFMOUNT_FS_UNSUPPORTED: JobFailure(.unsupported, "uses features that are not read here")
    case FFMOUNT_FS_NO_MEMORY: .noMemory()
    case FFMOUNT_FS_STOPPED: PiecewiseInput.failure
    default: JobFailure(.damaged, "cannot be read")
    }
  }

  public func lacksPassword(_ passwords: [[UInt8]]) -> Bool { false }

  // MARK: Entries

  public func countEntries() throws(JobFailure) -> Int {
    if let numbers { return numbers.count }
    _ = try walk { (_, _, _) throws(JobFailure) in }
    return numbers?.count ?? 0
  }

  public func outline(_ entry: Int) -> EntryRecord {
    guard let number = numbers?[entry] else { return EntryRecord(.file) }
    return outline(of: number).record
  }

  public func list(withoutPassword: Bool, to output: JobOutput) throws(JobFailure) {
    var list = EntryListWriter(output)
    let fault = try walk { (number, outline, path) throws(JobFailure) in
      var record = outline.record
      record.path = path
      if record.kind == .file, unreadable(number, outline.file) == nil {
        record.store(pieces(of: number, size: record.size))
      }
      try list.add(record)
    }
    try list.end(isOfDeleted ? .separate : .random, fault)
  }

  /// The record of a file without its name and place, and what the library knows of it.
  private typealias Outline = (record: EntryRecord, file: ffmount_fs_file)

  private func outline(of number: UInt64) -> Outline {
    var file = ffmount_fs_file()
    guard unsafe ffmount_fs_stat(handle, number, &file) == FFMOUNT_FS_OK else {
      var record = EntryRecord(.special)
      record.text = Array("file with an unreadable inode".utf8)
      record.flags.insert(.isUndated)
      return (record, file)
    }
    var record = EntryRecord(EntryRecord.Kind(mode: UInt64(file.mode)))
    let isLink = record.kind == .link
    if let target = isLink || file.has_reparse_point ? target(of: number, file) : nil {
      (record.kind, record.text) = (.link, target)
    } else if isLink {
      (record.kind, record.text) = (.special, EntryRecord.unreadableLink)
    } else if record.kind == .special {
      record.text = EntryRecord.specialText(UInt64(file.mode))
    }
    record.permissions = UInt16(truncatingIfNeeded: file.mode) & 0o777
    let (seconds, nanoseconds) = (file.seconds, Int32(min(file.nanoseconds, 999_999_999)))
    record.modified = Timestamp(
      seconds: min(max(-Bounds.latestTime, seconds), Bounds.latestTime), nanoseconds: nanoseconds)
    if record.kind == .file { record.size = Int64(clamping: file.size) }
    return (record, file)
  }

  /// Returns the target of a symbolic link or junction, with slashes. Returns `nil` if the file is neither.
  private func target(of number: UInt64, _ file: ffmount_fs_file) -> [UInt8]? {
    guard let bytes = link(of: number) else { return nil }
    let target = file.has_reparse_point ? ReparsePoint(bytes)?.target : bytes
    return target.flatMap { $0.isEmpty || $0.contains(0) ? nil : $0 }
  }

  /// Returns the text of a symbolic link, or a reparse point with its header. Returns `nil` if the file has none.
  private func link(of number: UInt64) -> [UInt8]? {
    // [MS-FSCC] 2.1.2.
    let largest = 16 << 10
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: largest) { buffer, count in
      count = unsafe max(0, Int(ffmount_fs_link(handle, number, buffer.baseAddress, largest)))
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Returns the reason why a file's bytes are not those that a program reads on its system. Returns `nil` if they are.
  private func unreadable(_ number: UInt64, _ file: ffmount_fs_file) -> String? {
    if file.is_encrypted { return "is encrypted by the file system" }
    guard file.has_reparse_point, let bytes = link(of: number), bytes.count >= 4 else { return nil }
    return switch UInt32(littleEndianBytes: bytes.prefix(4)) {
    case 0x8000_0017: "is compressed by Windows' overlay filter (WOF), which is not read here"
    case 0x8000_0013: "is stored in Windows' deduplication store, which is not read here"
    case 0xc000_0004, 0x8000_0006: "is in Windows' remote storage"
    default: nil
    }
  }

  // MARK: Folders

  /// Reads all folders, and calls `visit` with the number, outline and path of each entry. Returns the reason why entries
  /// may be missing.
  private func walk(
    _ visit: (_ number: UInt64, _ outline: Outline, _ path: [UInt8]) throws(JobFailure) -> Void
  ) throws(JobFailure) -> String? {
    let root = unsafe ffmount_fs_root(handle)
    var found: [UInt64] = []
    var folders: [(number: UInt64, path: [UInt8], isDeleted: Bool)] = [(root, [], false)]
    var visited: Set<UInt64> = [root]
    var (isDamaged, hasUnsupported) = (false, false)
    while let folder = folders.popLast() {
      var failure: JobFailure?
      let result = listFolder(folder.number) { name, number, isDeleted in
        let path = folder.path.isEmpty ? name : folder.path + [UInt8(ascii: "/")] + name
        guard path.count <= EntryRecord.longestText else {
          isDamaged = true
          return true
        }
        let isWanted = (isDeleted || folder.isDeleted) == isOfDeleted
        let outline = outline(of: number)
        // A folder with two names would be listed without end.
        if outline.record.kind == .folder, isWanted || isOfDeleted, visited.insert(number).inserted {
          folders.append((number, path, isDeleted || folder.isDeleted))
        }
        guard isWanted else { return true }
        found.append(number)
        do throws(JobFailure) { try visit(number, outline, path) } catch {
          failure = error
          return false
        }
        return true
      }
      if let failure { throw failure }
      switch result {
      case FFMOUNT_FS_OK: break
      case FFMOUNT_FS_UNSUPPORTED: hasUnsupported = true
      // The blocks of a deleted folder may be of another file.
      case FFMOUNT_FS_DAMAGED: isDamaged = isDamaged || !folder.isDeleted
      default: throw Self.failure(result)
      }
    }
    numbers = found
    let size = unsafe ffmount_fs_size(handle)
    return EntryListWriter.earlyEnd(input, of: size) ?? (isDamaged ? EntryListWriter.damage : nil)
      ?? (hasUnsupported ? EntryListWriter.unsupported : nil)
      ?? (unsafe ffmount_fs_needs_recovery(handle)
        ? "was not unmounted: changes in its journal are not shown" : nil)
  }

  /// Calls `body` with the names of a folder, until it returns false.
  private func listFolder(
    _ number: UInt64, _ body: (_ name: [UInt8], _ number: UInt64, _ isDeleted: Bool) -> Bool
  ) -> ffmount_fs_result {
    withoutActuallyEscaping(body) { body in
      let call = NameCall(body)
      return withExtendedLifetime(call) {
        unsafe ffmount_fs_list(handle, number, Unmanaged.passUnretained(call).toOpaque()) {
          context, name, count, number, isDeleted in
          guard let context = unsafe context else { return false }
          let call = unsafe Unmanaged<NameCall>.fromOpaque(context).takeUnretainedValue()
          return unsafe call.body(Array(UnsafeRawBufferPointer(start: name, count: count)), number, isDeleted)
        }
      }
    }
  }

  // MARK: Bytes

  public func withStream<Result>(
    of entry: Int,
    _ body: ((_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(JobFailure) -> Int) throws(JobFailure)
      -> Result
  ) throws(JobFailure) -> Result? {
    guard let number = numbers?[entry] else { return nil }
    if let reason = unreadable(number, outline(of: number).file) { throw JobFailure(.damaged, reason) }
    return try unsafe body { (buffer, offset) throws(JobFailure) in
      let count = unsafe ffmount_fs_read(handle, number, UInt64(max(0, offset)), buffer.baseAddress, buffer.count)
      guard (0...Int64(buffer.count)).contains(count) else { throw JobFailure(.damaged, "cannot be read") }
      return Int(count)
    }
  }

  /// Returns the pieces of the image that are a file's bytes. All other bytes are zeros. Returns no pieces if the bytes
  /// have to be decoded.
  private func pieces(of number: UInt64, size: Int64) -> [SparseSource.Piece] {
    if areas.isEmpty { areas = Array(repeating: ffmount_fs_area(), count: EntryRecord.mostPieces) }
    let count = unsafe ffmount_fs_areas(handle, number, &areas, areas.count)
    guard (0...Int64(areas.count)).contains(count) else { return [] }
    let pieces = areas[..<Int(count)].map { SparseSource.Piece(offset: $0.offset, count: $0.count, start: $0.start) }
    return SparseSource.areValid(pieces, size: size, stored: input.count) ? pieces : []
  }
}

/// A function that takes the names of a folder.
private final class NameCall {
  let body: ([UInt8], UInt64, Bool) -> Bool

  init(_ body: @escaping ([UInt8], UInt64, Bool) -> Bool) { self.body = body }
}
