internal import ArgumentParser
internal import Glibc
internal import Tree

extension MountOptions {
  /// Whether mount(8) started this process, of a line in /etc/fstab for example: it adds `rw` to every line without `ro`.
  static let isFromMount: Bool = {
    guard let file = unsafe fopen("/proc/\(getppid())/comm", "re") else { return false }
    defer { _ = unsafe fclose(file) }
    var name = [CChar](repeating: 0, count: 32)
    guard unsafe fgets(&name, Int32(name.count), file) != nil else { return false }
    return name.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) } == Array("mount".utf8)
  }()

  /// Throws if the options contradict each other for a mount that can be written.
  package func checkWriting() throws {
    guard isWritable else { return }
    if overrides.owner != nil || overrides.group != nil || overrides.umask != 0 {
      throw ValidationError(
        "-o rw: not with uid=, gid= or umask=, which show other owners and permissions than those that would be changed"
      )
    }
  }

  /// What is to be said of a mount that can be written and that others see; nil for every other.
  package var writingWarning: String? {
    guard isWritable, isShared else { return nil }
    return "rw with \(allowsOthers ? "allow_other" : "allow_root"): other users can change what the permissions of"
      + " the source let them change"
  }
}
