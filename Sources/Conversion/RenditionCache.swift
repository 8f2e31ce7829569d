public import Bytes
internal import CPosix
internal import Files
internal import Glibc
internal import Synchronization

/// Results that were dear to make, kept as files from one mount to the next, the ones used last, up to a size.
///
/// Several processes share the folder. A file gets its name when it is whole, and is locked (shared) while it is open: what
/// is locked stays. Nothing rests on the cache: a file that is not as it was left is no file, and where there is no room or
/// no folder, nothing is kept.
public final class RenditionCache: Sendable {
  private let folder: String
  /// In bytes.
  private let maximumSize: Int64
  private let state = Mutex(State())

  private struct State {
    /// Of all files as far as known, in bytes; nil before the first look.
    var size: Int64?
    /// Since the last look, which others may have added to.
    var added: Int64 = 0
    /// The files that were found to be whole.
    var checked: Set<FileName> = []
  }

  /// Checking what is larger takes a while, in bytes.
  private static let promptSize: Int64 = 4 << 20
  private static let checkedAtMost = 16384

  /// `folder` is made when it is needed.
  public init(folder: String, maximumSize: Int64) {
    self.folder = folder
    self.maximumSize = maximumSize
  }

  /// How many files there are, and what they take on the disk in bytes.
  public var contents: (count: Int, size: Int64) {
    let files = files()
    return (files.count, files.reduce(0) { Bounds.sum($0, $1.size) })
  }

  /// Forgets everything, whoever has it open; gives how many files that were.
  public func clear() -> Int {
    let files = files()
    for file in files { remove(file.name) }
    return files.count
  }

  /// Forgets one result.
  public func forget(_ recipe: Recipe, of source: ByteIdentity) { remove(RenditionName(source, recipe).fileName) }

  // MARK: One file

  /// A new file to be kept later.
  func makeFile() throws(Fault) -> TemporaryFile {
    do throws(Fault) { return try TemporaryFile(in: folder) } catch {
      guard error.kind == .system(ENOENT) else { throw error }
      makeFolder()
      return try TemporaryFile(in: folder)
    }
  }

  private func makeFolder() {
    if let slash = folder.lastIndex(of: "/") { _ = unsafe mkdir(String(folder[..<slash]), 0o700) }
    _ = unsafe mkdir(folder, 0o700)
  }

  /// What was kept under a name; nil when there is nothing. Throws `later` when to see whether it is whole takes long.
  func find(_ name: FileName, _ patience: Patience) throws(Fault) -> (file: TemporaryFile, size: Int64)? {
    let raw = unsafe path(name).withCString { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    guard let status = try? descriptor.status() else { return nil }
    let size = status.size - Int64(KeptEnd.size)
    let isChecked = state.withLock { $0.checked.contains(name) }
    if !isChecked, size > Self.promptSize, patience == .immediate { throw .later }
    _ = flock(raw, LOCK_SH | LOCK_NB)
    // Says that it was used: time of access now (UTIME_NOW), time of change as it is (UTIME_OMIT).
    let times = [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    _ = unsafe futimens(raw, times)
    let file = TemporaryFile(descriptor)
    guard size >= 0, let end = KeptEnd(of: file, at: size), end.dataSize == size,
      isChecked || end.hash == KeptEnd.hash(of: file, size: size)
    else {
      remove(name)
      return nil
    }
    if !isChecked { noteChecked(name) }
    return (file, size)
  }

  /// Keeps a file of `makeFile`, which is whole, under a name; gives whether that succeeded. It stays usable in either case.
  func keep(_ file: TemporaryFile, size: Int64, _ name: FileName) -> Bool {
    guard size <= maximumSize, let hash = KeptEnd.hash(of: file, size: size) else { return false }
    let end = KeptEnd(dataSize: size, hash: hash).bytes
    do throws(Fault) {
      var fault: Fault?
      unsafe end.withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try file.write(bytes, at: size) } catch { fault = error }
      }
      if let fault { throw fault }
    } catch { return false }
    let isKept = try? file.withDescriptor { (raw) throws(Fault) in
      _ = flock(raw, LOCK_SH | LOCK_NB)
      return unsafe linkat(AT_FDCWD, "/proc/self/fd/\(raw)", AT_FDCWD, path(name), AT_SYMLINK_FOLLOW) == 0
    }
    guard isKept == true else { return false }
    noteChecked(name)
    let room = (size + Int64(KeptEnd.size) + 4095) / 4096 * 4096
    let isFull = state.withLock { state in
      state.added += room
      guard let known = state.size else { return true }
      state.size = known + room
      return known + room > maximumSize || state.added > maximumSize / 16
    }
    if isFull { makeRoom() }
    return true
  }

  private func noteChecked(_ name: FileName) {
    state.withLock { state in
      if state.checked.count >= Self.checkedAtMost { state.checked = [] }
      state.checked.insert(name)
    }
  }

  private func path(_ name: FileName) -> String { "\(folder)/\(name.text)" }

  private func remove(_ name: FileName) {
    _ = unsafe unlink(path(name))
    state.withLock { _ = $0.checked.remove(name) }
  }

  // MARK: All files

  private struct Kept {
    let name: FileName
    let size: Int64
    let usedAt: Timestamp
  }

  /// Only what the cache has named: its folder is nobody's to put things in, but nothing else is to be lost.
  private func files() -> [Kept] {
    guard let place = try? Descriptor.open(path: folder, for: .listing) else { return [] }
    var files: [Kept] = []
    while var block = try? DirectoryBlock(of: place.raw, from: nil) {
      var isEmpty = true
      while let entry = try? block.next() {
        isEmpty = false
        let name = entry.name.fileName
        guard name.count == 64, let status = try? FileStatus(of: name, in: place.raw), status.type == S_IFREG else {
          continue
        }
        // What it takes on the disk: small files take more than they hold.
        files.append(Kept(name: name, size: Bounds.size(blocks: Int64(status.raw.st_blocks)), usedAt: status.accessed))
      }
      if isEmpty, block.last == nil { break }
    }
    return files
  }

  /// Removes what was used longest ago and is not open, until there is room for some more.
  private func makeRoom() {
    var files = files()
    var size = files.reduce(0) { Bounds.sum($0, $1.size) }
    if size > maximumSize {
      files.sort { ($0.usedAt.seconds, $0.usedAt.nanoseconds) < ($1.usedAt.seconds, $1.usedAt.nanoseconds) }
      for file in files {
        guard size > maximumSize / 8 * 7 else { break }
        guard isUnused(file.name) else { continue }
        remove(file.name)
        size -= file.size
      }
    }
    state.withLock { state in
      state.size = size
      state.added = 0
    }
  }

  private func isUnused(_ name: FileName) -> Bool {
    let raw = unsafe open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard raw >= 0 else { return true }
    defer { _ = close(raw) }
    return flock(raw, LOCK_EX | LOCK_NB) == 0
  }
}

/// What stands behind the bytes of a kept file, so that one that was cut or overwritten is told.
private struct KeptEnd {
  let dataSize: Int64
  /// Of the bytes.
  let hash: UInt64

  private static let mark: UInt64 = 0x6666_6D6F_756E_7431
  static let size = 24

  init(dataSize: Int64, hash: UInt64) {
    self.dataSize = dataSize
    self.hash = hash
  }

  var bytes: [UInt8] {
    [Self.mark, UInt64(bitPattern: dataSize), hash].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
  }

  init?(of file: TemporaryFile, at offset: Int64) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let isRead = unsafe bytes.withUnsafeMutableBytes { unsafe (try? file.read(into: $0, at: offset)) != nil }
    let words = (0..<3).map { index in
      (0..<8).reduce(into: UInt64(0)) { $0 |= UInt64(bytes[8 * index + $1]) << (8 * $1) }
    }
    guard isRead, words[0] == Self.mark else { return nil }
    dataSize = Int64(bitPattern: words[1])
    hash = words[2]
  }

  /// nil when the bytes cannot be read.
  static func hash(of file: TemporaryFile, size: Int64) -> UInt64? {
    var hash = StableHash()
    var buffer = [UInt8](repeating: 0, count: Int(min(size, 256 << 10)))
    var offset: Int64 = 0
    while offset < size {
      let count = Int(min(Int64(buffer.count), size - offset))
      let isRead = unsafe buffer.withUnsafeMutableBytes { bytes in
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        return unsafe (try? file.read(into: part, at: offset)) != nil
      }
      guard isRead else { return nil }
      unsafe hash.combine(long: buffer.span.bytes.extracting(0..<count))
      offset += Int64(count)
    }
    return hash.value
  }
}
