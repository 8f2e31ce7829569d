internal import ArgumentParser
internal import FileTrees
internal import Glibc
internal import Tree

extension MountOptions {
  /// Whether mount(8) started this process, for a line in /etc/fstab for example. It adds `rw` to every line without
  /// `ro`.
  static let isFromMount: Bool = {
    var process = getppid()
    // The process in between is mount.fuse3, which runs programs by a shell that may or may not remain.
    for _ in 0..<4 {
      guard let (name, parent) = ProcessTable.program(of: process) else { return false }
      if name == "mount" { return true }
      guard ["sh", "dash", "bash", "busybox"].contains(name) || name.hasPrefix("mount.") else { return false }
      process = parent
    }
    return false
  }()

  /// Applies `ro` or `rw`. The last one is effective. If mount(8) has sorted the options, `ro` is effective.
  mutating func allowWriting(_ isAllowed: Bool) {
    if !isAllowed, MountOptions.isFromMount { staysReadOnly = true }
    tree.isWritable = isAllowed && !staysReadOnly
  }

  /// Throws if the options contradict each other for a writable mount.
  package func checkWriting() throws {
    guard tree.isWritable else { return }
    let overrides = tree.overrides
    if overrides.owner != nil || overrides.group != nil || overrides.umask != 0 {
      throw ValidationError(
        "-o rw: not with uid=, gid= or umask=, which hide the owners and permissions that would be changed"
      )
    }
  }

  /// A warning about a writable mount that other users can access. `nil` for other mounts.
  package var writingWarning: String? {
    guard tree.isWritable, isShared else { return nil }
    return "rw with \(allowsOthers ? "allow_other" : "allow_root"): other users can change all files"
      + " that the permissions of the source let them change"
  }
}
