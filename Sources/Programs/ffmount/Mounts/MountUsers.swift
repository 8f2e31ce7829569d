import Assembly
import FileTrees
import Glibc

/// The programs that keep a mount from being unmounted.
enum MountUsers {
  private static let most = 3

  /// Returns some of the processes that have a file or their working directory in a mount, as `bash (process 123)`.
  /// Only this user's processes are found, or all of them for root. Makes no requests to the mount.
  static func of(_ mountpoint: String) -> [String] {
    var users: [String] = []
    for process in entries(of: "/proc").compactMap({ pid_t($0) }).sorted() where process != getpid() {
      let links = ["cwd", "root"] + entries(of: "/proc/\(process)/fd").map { "fd/\($0)" }
      guard links.contains(where: { isInside("/proc/\(process)/\($0)", mountpoint) }) else { continue }
      if users.count == most { return users + ["and others"] }
      users.append("\(name(of: process)) (process \(process))")
    }
    return users
  }

  /// Returns whether this process has its working directory in a mount. Makes no requests to the mount.
  static func isThisProcess(in mountpoint: String) -> Bool { isInside("/proc/self/cwd", mountpoint) }

  private static func isInside(_ link: String, _ folder: String) -> Bool {
    guard let target = OwnPrograms.target(ofLink: link) else { return false }
    return target == folder || target.hasPrefix(folder + "/")
  }

  private static func name(of process: pid_t) -> String {
    guard let file = unsafe fopen("/proc/\(process)/comm", "re") else { return "a program" }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    guard unsafe fgets(&line, Int32(line.count), file) != nil else { return "a program" }
    return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func entries(of path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names.filter { $0 != "." && $0 != ".." }
  }
}
