public import Bytes
internal import CPosix
public import Catalogue
internal import Files
internal import Glibc
internal import Synchronization

/// Results that were dear to make, kept as files from one mount to the next, the ones used last, up to a size.
///
/// Several processes share the folder. A file gets its name when it is whole, and is locked (shared) while it is open: what
/// is locked stays. Nothing rests on the cache: a file that is not as it was left, under its own name and by this user, is no
/// file, and where there is no room or no folder that is nobody else's to change, nothing is kept.
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
    /// The files that were found to be whole, as they were then.
    var checked: [FileName: Stamp] = [:]
    /// The folder's, once it was found to be this user's alone.
    var key: [UInt8]?
    /// Nobody else's folder is looked at again.
    var isForeign = false
  }

  /// What no change of a file leaves as it is.
  private struct Stamp: Equatable {
    let revision: UInt64
    let changed: Timestamp

    init(_ status: FileStatus) { (revision, changed) = (status.revision, status.changed) }
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

  /// Forgets everything, whoever has it open; gives how many files that were. Throws if some of them are left.
  public func clear() throws(Fault) -> Int {
    let files = files()
    for file in files { remove(file.name) }
    for file in files where unsafe access(path(file.name), F_OK) == 0 {
      throw Fault(.unsupported, "\(path(file.name)) cannot be removed (check the permissions of its folder)")
    }
    return files.count
  }

  /// Forgets one result.
  public func forget(_ recipe: Recipe, of source: ByteIdentity) { remove(RenditionName(source, recipe).fileName) }

  // MARK: One file

  /// A new file to be kept later.
  func makeFile() throws(Fault) -> TemporaryFile {
    _ = try key(making: true)
    do throws(Fault) { return try TemporaryFile(in: folder) } catch {
      guard error.kind == .system(ENOENT) else { throw error }
      // Somebody has cleared the cache.
      state.withLock { $0.key = nil }
      _ = try key(making: true)
      return try TemporaryFile(in: folder)
    }
  }

  /// The folder's key; throws when the folder is not this user's alone. With `making`, a folder that is missing is made.
  private func key(making: Bool) throws(Fault) -> [UInt8] {
    let (key, isForeign) = state.withLock { ($0.key, $0.isForeign) }
    if let key { return key }
    if isForeign { throw Fault(.system(EPERM), "\(folder) can be changed by others") }
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

  /// What stands for passwords in a name: nobody can try what others would make without the folder's key. nil: nothing can be
  /// kept under such a name.
  func seal(_ passwords: [[UInt8]]) -> [UInt8]? {
    guard let key = try? key(making: true), let digest = KeyedDigest(key: key) else { return nil }
    for password in passwords { digest.add(password + [0]) }
    return digest.finish()
  }

  /// What was kept under a name; nil when there is nothing. Throws `later` when to see whether it is whole takes long.
  func find(
    _ name: FileName, _ patience: Patience
  ) throws(Fault) -> (file: TemporaryFile, state: FileStatus, size: Int64)? {
    guard let key = try? key(making: false) else { return nil }
    // A fifo must not keep us.
    let raw = unsafe path(name).withCString { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    guard let status = try? descriptor.status() else { return nil }
    let size = status.size - Int64(KeptEnd.size)
    let isChecked = state.withLock { $0.checked[name] == Stamp(status) }
    if !isChecked, size > Self.promptSize, patience == .immediate { throw .later }
    _ = flock(raw, LOCK_SH | LOCK_NB)
    // Says that it was used: time of access now (UTIME_NOW), time of change as it is (UTIME_OMIT).
    let times = [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    _ = unsafe futimens(raw, times)
    // That has changed the time by which a change is seen.
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

  private func isWhole(_ file: TemporaryFile, size: Int64, _ name: FileName, _ key: [UInt8]) -> Bool {
    guard let end = KeptEnd(of: file, at: size), end.dataSize == size else { return false }
    return end == KeptEnd(for: file, size: size, name, key: key, nonce: end.nonce)
  }

  /// Keeps a file of `makeFile`, which is whole, under a name; gives its state then, nil when that did not succeed. It stays
  /// usable in either case.
  func keep(_ file: TemporaryFile, size: Int64, _ name: FileName) -> FileStatus? {
    guard size <= maximumSize, let key = try? key(making: true),
      let end = KeptEnd(for: file, size: size, name, key: key)?.bytes
    else { return nil }
    do throws(Fault) {
      var fault: Fault?
      unsafe end.withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try file.write(bytes, at: size) } catch { fault = error }
      }
      if let fault { throw fault }
    } catch { return nil }
    let kept = try? file.withDescriptor { (raw) throws(Fault) -> FileStatus? in
      _ = flock(raw, LOCK_SH | LOCK_NB)
      guard unsafe linkat(AT_FDCWD, "/proc/self/fd/\(raw)", AT_FDCWD, path(name), AT_SYMLINK_FOLLOW) == 0 else {
        return nil
      }
      return try FileStatus(of: raw)
    }
    guard let kept else { return nil }
    noteChecked(name, kept)
    let room = (size + Int64(KeptEnd.size) + 4095) / 4096 * 4096
    let isFull = state.withLock { state in
      state.added += room
      guard let known = state.size else { return true }
      state.size = known + room
      return known + room > maximumSize || state.added > maximumSize / 16
    }
    if isFull { makeRoom() }
    return kept
  }

  private func noteChecked(_ name: FileName, _ status: FileStatus) {
    state.withLock { state in
      if state.checked.count >= Self.checkedAtMost { state.checked = [:] }
      state.checked[name] = Stamp(status)
    }
  }

  private func path(_ name: FileName) -> String { "\(folder)/\(name.text)" }

  private func remove(_ name: FileName) {
    _ = unsafe unlink(path(name))
    state.withLock { $0.checked[name] = nil }
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
    let raw = unsafe open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard raw >= 0 else { return true }
    defer { _ = close(raw) }
    return flock(raw, LOCK_EX | LOCK_NB) == 0
  }
}
