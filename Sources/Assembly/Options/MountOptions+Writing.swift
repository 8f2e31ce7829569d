internal import ArgumentParser
internal import FileTrees
internal import Glibc
internal import Tree

extension MountOptions {
  /// Whether mount(8) started this process, of a line in /etc/fstab for example: it adds `rw` to every line without `ro`.
  static let isFromMount: Bool = {
    var process = getppid()
    // Between the two is mount.fuse3, which runs programs by a shell that may or may not stay.
    for _ in 0..<4 {
      guard let (name, parent) = program(of: process) else { return false }
      if name == "mount" { return true }
      guard ["sh", "dash", "bash", "busybox"].contains(name) || name.hasPrefix("mount.") else { return false }
      process = parent
    }
    return false
  }()

  /// What a process runs, and its parent.
  private static func program(of process: pid_t) -> (name: String, parent: pid_t)? {
    guard let file = unsafe fopen("/proc/\(process)/stat", "re") else { return nil }
    defer { _ = unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // `123 (name) S 45 …`, in which the name may have parentheses.
    guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else { return nil }
    let rest = text[text.index(after: end)...].split(separator: " ")
    guard rest.count > 1, let parent = pid_t(rest[1]) else { return nil }
    return (String(text[text.index(after: start)..<end]), parent)
  }

  /// Takes over `ro` or `rw`, the last of which counts; from mount(8), which sorts them, `ro`.
  mutating func allowWriting(_ isAllowed: Bool) {
    if !isAllowed, MountOptions.isFromMount { staysReadOnly = true }
    tree.isWritable = isAllowed && !staysReadOnly
  }

  /// Throws if the options contradict each other for a mount that can be written.
  package func checkWriting() throws {
    guard tree.isWritable else { return }
    let overrides = tree.overrides
    if overrides.owner != nil || overrides.group != nil || overrides.umask != 0 {
      throw ValidationError(
        "-o rw: not with uid=, gid= or umask=, which show other owners and permissions than those that would be changed"
      )
    }
  }

  /// What is to be said of a mount that can be written and that others see; nil for every other.
  package var writingWarning: String? {
    guard tree.isWritable, isShared else { return nil }
    return "rw with \(allowsOthers ? "allow_other" : "allow_root"): other users can change what the permissions of"
      + " the source let them change"
  }
}
