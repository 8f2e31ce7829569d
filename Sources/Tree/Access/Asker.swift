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

  /// The groups of `Groups:` in /proc/THREAD/status.
  private var supplementary: [UInt32] {
    guard thread > 0, let file = unsafe fopen("/proc/\(thread)/status", "re") else { return [] }
    defer { _ = unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while unsafe getline(&line, &capacity, file) >= 0 {
      guard let text = unsafe line.map({ unsafe String(cString: $0) }), text.hasPrefix("Groups:") else { continue }
      return text.dropFirst("Groups:".utf8.count).split { $0.isWhitespace }.compactMap { UInt32($0) }
    }
    return []
  }

  /// Whether a mode and a list grant `wanted`, of read 4, write 2 and execute 1, to the process. Root always may.
  func may(_ wanted: UInt16, _ face: Face, _ list: AccessList?) -> Bool {
    if user == 0 { return true }
    if let list { return list.gives(wanted, to: self, owner: face.owner, group: face.group) }
    let shift =
      user == face.owner
      ? 6
      : face.permissions >> 3 & 7 != face.permissions & 7 && isMember(of: face.group) ? 3 : 0
    return face.permissions >> shift & wanted == wanted
  }
}
