public import Bytes
internal import Glibc
internal import Synchronization

/// A secret that only this user has, kept in a folder of his: what is stored there is bound to it, so that nobody else can
/// make what is taken for ours.
public enum OwnKey {
  /// In bytes.
  public static let size = 32
  private static let name = "key"

  /// The key in `folder`, an `OwnFolder`; made when there is none that is whole and nobody else's. Blocks.
  public static func key(in folder: String) throws(Fault) -> [UInt8] {
    let path = "\(folder)/\(name)"
    if let key = read(path) { return key }
    return try turn.withLock { _ throws(Fault) in
      if let key = read(path) { return key }
      try make(path)
      // Another process may have been quicker.
      guard let key = read(path) else { throw Fault(.system(EIO), "\(path) cannot be read") }
      return key
    }
  }

  /// Held by the thread that makes one: two would make two.
  private static let turn = Mutex(())

  private static func read(_ path: String) -> [UInt8]? {
    // A fifo must not keep us.
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

  /// Puts a new key in the place of whatever is there.
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
    // One that is there and sound is another process's by now, and stays.
    if read(path) != nil { return }
    _ = try systemCall("rename") { unsafe rename(fresh, path) }
  }
}
