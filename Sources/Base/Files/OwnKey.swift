public import Bytes
internal import Glibc
internal import Locks

/// A secret that only this user can read, in a directory of the user. Stored data is authenticated with it, so that
/// others cannot forge the data.
public enum OwnKey {
  /// The size in bytes.
  public static let size = 32
  private static let name = "key"

  /// Returns the key in `folder`, an `OwnFolder`. Creates it unless an intact and private one exists. Blocks.
  public static func key(in folder: String) throws(Fault) -> [UInt8] {
    let path = "\(folder)/\(name)"
    if let key = read(path) { return key }
    return try turn.withLock { _ throws(Fault) in
      if let key = read(path) { return key }
      try make(path)
      // Another process may have been first.
      guard let key = read(path) else { throw Fault(.system(EIO), "\(path) cannot be read") }
      return key
    }
  }

  /// Held while a key is created, so that two threads do not create two.
  private static let turn = UnfairLock(())

  private static func read(_ path: String) -> [UInt8]? {
    // O_NONBLOCK: a FIFO must not block the open.
    let raw = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    guard let status = try? descriptor.status(), OwnFolder.isOwn(status.raw), status.raw.st_mode & 0o077 == 0,
      status.size == size
    else { return nil }
    var key = [UInt8](repeating: 0, count: size)
    let count = unsafe try? key.withUnsafeMutableBytes { (buffer) throws(Fault) in
      unsafe try readFully(descriptor.raw, into: buffer, at: 0)
    }
    return count == size ? key : nil
  }

  /// Creates a new key and replaces any existing file.
  private static func make(_ path: String) throws(Fault) {
    let fresh = "\(path).\(getpid())"
    _ = unsafe unlink(fresh)
    var generator = SystemRandomNumberGenerator()
    let key = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let raw = try systemCall("open") {
      unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }
    let descriptor = Descriptor(owning: raw)
    defer { _ = unsafe unlink(fresh) }
    let written = try systemCall("write") { unsafe write(descriptor.raw, key, key.count) }
    guard written == size else { throw Fault(.system(ENOSPC), "no room for a key") }
    // An intact key that was created meanwhile is another process's, and stays.
    if read(path) != nil { return }
    _ = try systemCall("rename") { unsafe rename(fresh, path) }
  }
}
