internal import Glibc

/// Public information about the system's processes.
enum ProcessTable {
  /// Returns the name of a process's program, and its parent.
  static func program(of process: pid_t) -> (name: String, parent: pid_t)? {
    guard let file = unsafe fopen("/proc/\(process)/stat", "re") else { return nil }
    defer { _ = unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The line is `123 (name) S 45 …`. The name can contain parentheses.
    guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else { return nil }
    let rest = text[text.index(after: end)...].split(separator: " ")
    guard rest.count > 1, let parent = pid_t(rest[1]) else { return nil }
    return (String(text[text.index(after: start)..<end]), parent)
  }
}
