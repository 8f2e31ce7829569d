internal import Glibc

/// The set-uid helper that mounts and unmounts for users.
package enum Fusermount {
  package static var path: String? {
    ["/usr/bin/fusermount3", "/bin/fusermount3", "/usr/local/bin/fusermount3"].first { unsafe access($0, X_OK) == 0 }
  }

  /// Unmounts lazily, even if the mount is in use.
  package static func detach(_ mountpoint: String) -> Bool {
    do throws(Failure) {
      try unmount(mountpoint, lazily: true)
      return true
    } catch { return false }
  }

  package enum Failure: Error {
    case busy
    /// The reason, as the end of a sentence.
    case other(String)
  }

  /// Unmounts. Root does not need the helper. Blocks until the mount is gone.
  package static func unmount(_ mountpoint: String, lazily: Bool) throws(Failure) {
    if geteuid() == 0 {
      let flags = Int32(UMOUNT_NOFOLLOW) | (lazily ? Int32(MNT_DETACH) : 0)
      if unsafe umount2(mountpoint, flags) == 0 { return }
      throw errno == EBUSY ? .busy : .other(describe(errno))
    }
    guard let path else { throw .other("no fusermount3 (install it with: apt install fuse3)") }
    guard let ended = Subprocess.run(path, ["-u"] + (lazily ? ["-z"] : []) + ["--", mountpoint]) else {
      throw .other("\(path) cannot be started: \(describe(errno))")
    }
    if ended.status == 0 { return }
    // The helper reports the reason in English.
    if ended.text.contains("busy") { throw .busy }
    throw .other(ended.text.split(separator: "\n").first.map(String.init) ?? "\(path) ended with \(ended.status)")
  }
}
