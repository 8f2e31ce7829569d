public import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// Operations on all files of the cache.
extension RenditionCache {
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
