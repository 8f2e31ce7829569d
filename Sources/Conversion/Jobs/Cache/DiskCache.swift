public import Bytes
internal import CPosix
public import Catalogue
internal import Files
internal import Glibc
internal import Locks

/// A disk cache that outlives the mount, of conversion results or of blocks of files on other machines. It keeps the most
/// recently used ones, up to a size.
///
/// Several processes share the directory, on one machine or on several. A file gets its name once, when it is complete.
/// A process that makes the same result later uses the first one. An open file is locked (shared) and is not evicted.
///
/// The cache is optional. Files that were changed, renamed, or written by another user are discarded. Nothing is cached
/// without space, or if other users can change the directory.
public final class DiskCache: Sendable {
  let folder: String
  /// The maximum size of all files, in bytes.
  let maximumSize: Int64
  let state = UnfairLock(State())

  struct State {
    /// The known size of all files, in bytes. `nil` before the first scan.
    var size: Int64?
    /// The number of bytes added since the last scan. Other processes may have added more.
    var added: Int64 = 0
    /// The revisions of verified files. Use by other processes changes only the ctime.
    var checked: [FileName: UInt64] = [:]
    /// The directory's key, after a check that only this user can change the directory.
    var key: [UInt8]?
    /// Whether others can change the directory. It is not checked again.
    var isForeign = false
  }

  /// The maximum size of files that are verified even if the caller must not block, in bytes.
  private static let promptSize: Int64 = 4 << 20
  private static let checkedAtMost = 16384

  /// Creates a cache. The directory is created when it is needed.
  public init(folder: String, maximumSize: Int64) {
    self.folder = folder
    self.maximumSize = maximumSize
  }

  /// Removes one result.
  public func forget(_ recipe: Recipe, of source: ByteIdentity) { remove(RenditionName(source, recipe).fileName) }

  // MARK: One file

  /// Creates a file for `keep`.
  func makeFile() throws(Fault) -> TemporaryFile {
    _ = try key(making: true)
    do throws(Fault) { return try TemporaryFile(in: folder, named: Self.prefix) } catch {
      guard error.kind == .system(ENOENT) else { throw error }
      // The cache has been cleared in the meantime.
      state.withLock { $0.key = nil }
      _ = try key(making: true)
      return try TemporaryFile(in: folder, named: Self.prefix)
    }
  }

  /// Returns the directory's key. Throws if others can change the directory. With `making`, a missing directory is
  /// created.
  func key(making: Bool) throws(Fault) -> [UInt8] {
    let (key, isForeign) = state.withLock { ($0.key, $0.isForeign) }
    if let key { return key }
    if isForeign { throw Fault(.system(EPERM), "\(folder) can be changed by other users") }
    do throws(Fault) {
      try OwnFolder.check(folder, making: making)
      let key = try OwnKey.key(in: folder)
      state.withLock { $0.key = key }
      return key
    } catch {
      if error.kind == .system(EPERM) { state.withLock { $0.isForeign = true } }
      throw error
    }
  }

  /// Returns a digest of passwords or addresses for a name. They cannot be guessed from it without the directory's key.
  /// Returns `nil` if results with such a name cannot be cached.
  package func seal(_ secrets: [[UInt8]]) -> [UInt8]? {
    guard let key = try? key(making: true), let digest = KeyedDigest(key: key) else { return nil }
    for secret in secrets { digest.add(secret + [0]) }
    return digest.finish()
  }

  /// Returns the cached file with this name. Returns `nil` if there is none. Throws `later` if verifying it would
  /// block.
  func find(
    _ name: FileName, _ blocking: BlockingMode
  ) throws(Fault) -> (file: TemporaryFile, state: FileStatus, size: Int64)? {
    guard let key = try? key(making: false) else { return nil }
    // Opening a FIFO must not block.
    let raw = unsafe path(name).withCString { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    guard let status = try? descriptor.status() else { return nil }
    let size = status.size - Int64(CacheTrailer.size)
    let isChecked = state.withLock { $0.checked[name] == status.revision }
    if !isChecked, size > Self.promptSize, blocking == .immediate { throw .later }
    _ = flock(raw, LOCK_SH | LOCK_NB)
    Self.markUsed(raw)
    // The state after this change. Its revision differs only if the content has changed.
    let used = try? descriptor.status()
    let file = TemporaryFile(descriptor)
    guard status.type == S_IFREG, size >= 0, let used, used.revision == status.revision,
      isChecked || isWhole(file, size: size, name, key)
    else {
      remove(name)
      return nil
    }
    noteChecked(name, used)
    return (file, used, size)
  }

  /// Sets the access time of an open file (UTIME_NOW), and keeps its modification time (UTIME_OMIT).
  private static func markUsed(_ raw: Int32) {
    let times = [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    _ = unsafe futimens(raw, times)
  }

  private func isWhole(_ file: TemporaryFile, size: Int64, _ name: FileName, _ key: [UInt8]) -> Bool {
    guard let end = CacheTrailer(of: file, at: size), end.dataSize == size else { return false }
    return end == CacheTrailer(for: file, size: size, name, key: key, nonce: end.nonce)
  }

  /// The outcome of caching a result.
  enum Keeping {
    /// The file has its name. The value is its state.
    case kept(FileStatus)
    /// Another process cached the same result before. All processes use that file.
    case known(file: TemporaryFile, state: FileStatus, size: Int64)
    /// The file has no name, but is usable.
    case failed
  }

  /// Caches a complete file of `makeFile` under a name. Blocks.
  func keep(_ file: TemporaryFile, size: Int64, _ name: FileName) -> Keeping {
    guard size <= maximumSize, let key = try? key(making: true),
      let end = CacheTrailer(for: file, size: size, name, key: key)?.bytes
    else { return .failed }
    do throws(Fault) { try file.write(end, at: size) } catch { return .failed }
    // Two attempts: an existing file can be damaged and is then removed.
    for _ in 0..<2 {
      do throws(Fault) {
        let kept = try file.withDescriptor { (raw) throws(Fault) -> FileStatus in
          _ = flock(raw, LOCK_SH | LOCK_NB)
          try file.link(as: path(name))
          return try FileStatus(of: raw)
        }
        noteChecked(name, kept)
        noteAdded((size + Int64(CacheTrailer.size) + 4095) / 4096 * 4096)
        return .kept(kept)
      } catch {
        guard error.kind == .system(EEXIST) else { return .failed }
        if let known = (try? find(name, .blocking)) ?? nil {
          return .known(file: known.file, state: known.state, size: known.size)
        }
      }
    }
    return .failed
  }

  private func noteAdded(_ room: Int64) {
    let isFull = state.withLock { state in
      state.added += room
      guard let known = state.size else { return true }
      state.size = known + room
      return known + room > maximumSize || state.added > maximumSize / 16
    }
    if isFull { makeRoom() }
  }

  private func noteChecked(_ name: FileName, _ status: FileStatus) {
    state.withLock { state in
      if state.checked.count >= Self.checkedAtMost { state.checked = [:] }
      state.checked[name] = status.revision
    }
  }

  func path(_ name: FileName) -> String { "\(folder)/\(name.text)" }

  func remove(_ name: FileName) {
    _ = unsafe unlink(path(name))
    state.withLock { $0.checked[name] = nil }
  }
}

/// Blocks of bytes, which are read and written whole.
extension DiskCache {
  /// The accuracy of the access time of a block, in seconds, so that not every read causes a write.
  private static let useAccuracy: Int64 = 600

  /// Returns the block with this name. Returns `nil` if there is none. A block that has been changed is removed. Blocks
  /// for the disk.
  ///
  /// The returned bytes are those that have been verified, so no change during the call goes unnoticed.
  package func block(_ name: FileName, count: Int) -> [UInt8]? {
    guard let key = try? key(making: false) else { return nil }
    // Opening a FIFO must not block.
    let raw = unsafe open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    guard let status = try? descriptor.status() else { return nil }
    if Timestamp.now.seconds - status.accessed.seconds > Self.useAccuracy { Self.markUsed(raw) }
    let file = TemporaryFile(descriptor)
    var bytes = [UInt8](repeating: 0, count: count + CacheTrailer.size)
    let isRead = unsafe bytes.withUnsafeMutableBytes { unsafe (try? file.read(into: $0, at: 0)) != nil }
    guard isRead, status.type == S_IFREG, status.size == Int64(bytes.count),
      let end = CacheTrailer(bytes[count...]), end.dataSize == Int64(count),
      end == CacheTrailer(for: bytes[..<count], name, key: key, nonce: end.nonce)
    else {
      remove(name)
      return nil
    }
    bytes.removeLast(CacheTrailer.size)
    return bytes
  }

  /// The reason why the directory cannot be used. Nil if it can.
  private var folderFault: Fault? {
    do throws(Fault) { try OwnFolder.check(folder) } catch { return error }
    return nil
  }

  /// Keeps a block under a name, unless there is one of that name, which is removed if it is damaged. Returns false if
  /// the block cannot be kept. Blocks.
  package func keep(_ block: [UInt8], _ name: FileName) -> Bool {
    if self.block(name, count: block.count) != nil { return true }
    do throws(Fault) {
      // A link may have replaced the directory since it was checked. `makeFile` makes a missing one.
      if let objection = folderFault, objection.kind != .system(ENOENT) { return false }
      let file = try makeFile()
      guard Int64(block.count) <= maximumSize, let end = CacheTrailer(for: block[...], name, key: try key(making: true))
      else { return false }
      try file.write(block, at: 0)
      try file.write(end.bytes, at: Int64(block.count))
      try file.link(as: path(name))
    } catch { return error.kind == .system(EEXIST) }
    noteAdded((Int64(block.count + CacheTrailer.size) + 4095) / 4096 * 4096)
    return true
  }
}

/// Build locks: at any time, only one process on any machine makes a particular result.
///
/// A build lock is a lock of one byte of the file `turns`, whose offset depends on the result's name. Such locks work
/// between machines on NFS, end with their process, and leave nothing behind. They are advisory: without locks, or if a
/// process holds one too long, a result is made twice and the first is used by all.
extension DiskCache {
  /// A build lock, which its release ends.
  final class BuildLock: Sendable {
    private let descriptor: Descriptor

    fileprivate init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
  }

  /// The outcome of an attempt to acquire a build lock.
  enum TurnAttempt {
    /// The result may be made now. The lock is `nil` if locks are unavailable or the result exists.
    case granted(BuildLock?)
    /// Another process is making the result.
    case held
  }

  /// Tries to acquire the build lock of a result. Blocks only for the disk.
  func attemptTurn(_ name: RenditionName) -> TurnAttempt {
    guard (try? key(making: true)) != nil,
      let descriptor = try? Descriptor.open(creating: "\(folder)/turns")
    else { return .granted(nil) }
    let place = Int64(truncatingIfNeeded: UInt64(littleEndianBytes: name.digest[..<8]) >> 2)
    switch ffmount_lock_byte(descriptor.raw, place) {
    case 0: return .granted(BuildLock(descriptor))
    case EAGAIN, EACCES: return unsafe access(path(name.fileName), F_OK) == 0 ? .granted(nil) : .held
    default: return .granted(nil)
    }
  }
}

/// Operations on all files of the cache.
extension DiskCache {
  /// The prefix of incomplete files, on file systems that require names for them.
  static let prefix = "new."
  /// The age in seconds after which an incomplete file without locks is a leftover of a killed process.
  private static let leftoverAge: Int64 = 60

  /// The number of files, and their size on disk in bytes.
  public var contents: (count: Int, size: Int64) {
    let files = files()
    return (files.count, files.reduce(0) { Bounds.sum($0, $1.size) })
  }

  /// Removes all results, including those in use. Returns the number of files. Throws if some cannot be removed.
  public func clear() throws(Fault) -> Int {
    let files = files()
    for file in files { remove(file.name) }
    for file in files where unsafe access(path(file.name), F_OK) == 0 {
      throw Fault(.unsupported, "\(path(file.name)) cannot be removed (check the permissions of its folder)")
    }
    return files.count
  }

  fileprivate struct Kept {
    let name: FileName
    let size: Int64
    let usedAt: Timestamp
  }

  /// Returns the files with names of the cache. Foreign files do not belong in the directory, but are not removed.
  private func files() -> [Kept] {
    guard let place = try? Descriptor.open(path: folder, for: .listing) else { return [] }
    var files: [Kept] = []
    while var block = try? DirectoryBlock(of: place.raw, from: nil) {
      var isEmpty = true
      while let entry = try? block.next() {
        isEmpty = false
        let name = entry.name.fileName
        if name.bytes.starts(with: Self.prefix.utf8) { removeLeftover(name) }
        guard name.count == 64, let status = try? FileStatus(of: name, in: place.raw), status.type == S_IFREG else {
          continue
        }
        // The size on disk is used because small files occupy more than their length.
        files.append(Kept(name: name, size: Bounds.size(blocks: Int64(status.raw.st_blocks)), usedAt: status.accessed))
      }
      if isEmpty, block.last == nil { break }
    }
    return files
  }

  /// Evicts the least recently used files that are not open, until an eighth of the maximum size is free.
  func makeRoom() {
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
    // Exclusive locks on NFS require a writable descriptor.
    let raw = unsafe open(path(name), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard raw >= 0 else { return errno == ENOENT }
    defer { _ = close(raw) }
    return flock(raw, LOCK_EX | LOCK_NB) == 0
  }

  private func removeLeftover(_ name: FileName) {
    var status = stat()
    guard unsafe lstat(path(name), &status) == 0,
      Timestamp.now.seconds - Int64(status.st_mtim.tv_sec) > Self.leftoverAge, isUnused(name)
    else { return }
    _ = unsafe unlink(path(name))
  }
}
