internal import Glibc

/// The process that made a request.
///
/// The kernel enforces permissions on opening. A tree checks only where the reply itself would reveal a file's content.
public struct Asker: Sendable {
  public let user: UInt32
  public let group: UInt32
  /// The thread id; 0 if it is not visible in this PID namespace.
  public let thread: Int32

  public init(user: UInt32, group: UInt32, thread: Int32) {
    self.user = user
    self.group = group
    self.thread = thread
  }

  /// Whether the process is in a group; false if that cannot be determined. Reads /proc.
  func isMember(of group: UInt32) -> Bool { group == self.group || supplementary.contains(group) }

  private var supplementary: [UInt32] { status("Groups").compactMap { UInt32($0) } }

  /// The words of a line in /proc/THREAD/status; none if there is no such line or it cannot be read.
  private func status(_ key: String) -> [Substring] {
    guard thread > 0, let file = unsafe fopen("/proc/\(thread)/status", "re") else { return [] }
    defer { _ = unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while unsafe getline(&line, &capacity, file) >= 0 {
      guard let text = unsafe line.map({ unsafe String(cString: $0) }), text.hasPrefix("\(key):") else { continue }
      return text.dropFirst(key.utf8.count + 1).split { $0.isWhitespace }
    }
    return []
  }

  /// Whether it is a thread of the kernel's, as those of an NFS server, or cannot be seen.
  var isKernel: Bool { status("VmSize").isEmpty }

  /// Whether the process has the capability to read and search everything, CAP_DAC_READ_SEARCH, or to do anything with
  /// files, CAP_DAC_OVERRIDE, in this process's user namespace.
  private func isCapable(of wanted: UInt16) -> Bool {
    guard let word = status("CapEff").first, let capabilities = UInt64(word, radix: 16) else { return false }
    guard capabilities & 1 << 1 != 0 || capabilities & 1 << 2 != 0 && wanted & 2 == 0 else { return false }
    var (own, other) = (stat(), stat())
    return unsafe stat("/proc/self/ns/user", &own) == 0 && stat("/proc/\(thread)/ns/user", &other) == 0
      && own.st_ino == other.st_ino && own.st_dev == other.st_dev
  }

  /// Whether a mode and a list, or a capability, grant `wanted`, of read 4, write 2 and execute 1, to the process. Root
  /// always may.
  func may(_ wanted: UInt16, _ face: Face, _ list: AccessList?) -> Bool {
    user == 0 || isGiven(wanted, face, list) || isCapable(of: wanted)
  }

  private func isGiven(_ wanted: UInt16, _ face: Face, _ list: AccessList?) -> Bool {
    if let list { return list.gives(wanted, to: self, owner: face.owner, group: face.group) }
    let shift =
      user == face.owner
      ? 6
      : face.permissions >> 3 & 7 != face.permissions & 7 && isMember(of: face.group) ? 3 : 0
    return face.permissions >> shift & wanted == wanted
  }
}
