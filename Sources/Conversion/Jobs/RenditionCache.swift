public import Bytes
internal import CPosix
public import Catalogue
internal import Files
internal import Glibc
internal import Synchronization

/// Results that were dear to make, kept as files from one mount to the next, the ones used last, up to a size.
///
/// Several processes share the folder, on one machine or on several. A file gets its name when it is whole, once: who comes
/// second takes that of the first. It is locked (shared) while it is open: what is locked stays. Nothing rests on the cache: a file that is not as it was left, under its own name and by this user, is no
/// file, and where there is no room or no folder that is nobody else's to change, nothing is kept.
public final class RenditionCache: Sendable {
  let folder: String
  /// In bytes.
  let maximumSize: Int64
  let state = Mutex(State())

  struct State {
    /// Of all files as far as known, in bytes; nil before the first look.
    var size: Int64?
    /// Since the last look, which others may have added to.
    var added: Int64 = 0
    /// The revisions of the files that were found to be whole. Others' use changes no more than the ctime.
    var checked: [FileName: UInt64] = [:]
    /// The folder's, once it was found to be this user's alone.
    var key: [UInt8]?
    /// Nobody else's folder is looked at again.
    var isForeign = false
  }

  /// Checking what is larger takes a while, in bytes.
  private static let promptSize: Int64 = 4 << 20
  private static let checkedAtMost = 16384

  /// `folder` is made when it is needed.
  public init(folder: String, maximumSize: Int64) {
    self.folder = folder
    self.maximumSize = maximumSize
  }

  /// Forgets one result.
  public func forget(_ recipe: Recipe, of source: ByteIdentity) { remove(RenditionName(source, recipe).fileName) }

  // MARK: One file

  /// A new file to be kept later.
  func makeFile() throws(Fault) -> TemporaryFile {
    _ = try key(making: true)
    do throws(Fault) { return try TemporaryFile(in: folder, named: Self.prefix) } catch {
      guard error.kind == .system(ENOENT) else { throw error }
      // Somebody has cleared the cache.
      state.withLock { $0.key = nil }
      _ = try key(making: true)
      return try TemporaryFile(in: folder, named: Self.prefix)
    }
  }

  /// The folder's key; throws when the folder is not this user's alone. With `making`, a folder that is missing is made.
  func key(making: Bool) throws(Fault) -> [UInt8] {
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
    let isChecked = state.withLock { $0.checked[name] == status.revision }
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

  /// What came of keeping a result.
  enum Keeping {
    /// It has its name; its state then.
    case kept(FileStatus)
    /// Somebody else has made the same before: everybody gets that.
    case known(file: TemporaryFile, state: FileStatus, size: Int64)
    /// It has no name, and is usable all the same.
    case failed
  }

  /// Keeps a file of `makeFile`, which is whole, under a name. Blocks.
  func keep(_ file: TemporaryFile, size: Int64, _ name: FileName) -> Keeping {
    guard size <= maximumSize, let key = try? key(making: true),
      let end = KeptEnd(for: file, size: size, name, key: key)?.bytes
    else { return .failed }
    do throws(Fault) {
      var fault: Fault?
      unsafe end.withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try file.write(bytes, at: size) } catch { fault = error }
      }
      if let fault { throw fault }
    } catch { return .failed }
    // Twice: what is there may be damaged, and is then removed.
    for _ in 0..<2 {
      do throws(Fault) {
        let kept = try file.withDescriptor { (raw) throws(Fault) -> FileStatus in
          _ = flock(raw, LOCK_SH | LOCK_NB)
          try file.link(as: path(name))
          return try FileStatus(of: raw)
        }
        noteChecked(name, kept)
        noteAdded((size + Int64(KeptEnd.size) + 4095) / 4096 * 4096)
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
