import Bytes
import Files
import Glibc
import Locks

/// The number of times that links have been opened, in a file of its own: a line for each link with its name, the number,
/// and the time of the last.
final class Visits: Sendable {
  private struct State {
    var counts: [String: (count: Int, last: Int64?)] = [:]
    var isChanged = false
  }

  private let path: String
  private let state = UnfairLock(State())

  private static let most = 10_000
  private static let largest = 1 << 20

  /// Reads the file beside that of the users. A missing or malformed one counts nothing. Blocks.
  init(beside users: String) {
    path = users + ".opened"
    guard let file = unsafe fopen(path, "re") else { return }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Self.largest)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").prefix(Self.most)
    state.withLock { state in
      for words in lines.map({ $0.split(separator: " ") }) {
        guard words.count == 3, let count = Int(words[1]), count >= 0, let last = Int64(words[2]) else { continue }
        state.counts[String(words[0])] = (count, last)
      }
    }
  }

  func count(of name: String) -> (count: Int, last: Int64?) { state.withLock { $0.counts[name] ?? (0, nil) } }

  /// Counts a visit, unless `most` have been counted. Returns whether it is permitted.
  func note(_ name: String, atMost most: Int?) -> Bool {
    let now = HTTPDate.now.seconds
    return state.withLock { state in
      let known = state.counts[name]?.count ?? 0
      if let most, known >= most { return false }
      guard known < Int.max, state.counts[name] != nil || state.counts.count < Self.most else { return most == nil }
      state.counts[name] = (known + 1, now)
      state.isChanged = true
      return true
    }
  }

  /// Forgets all names but these.
  func keep(_ names: Set<String>) {
    state.withLock { state in
      let counts = state.counts.filter { names.contains($0.key) }
      if counts.count < state.counts.count { (state.counts, state.isChanged) = (counts, true) }
    }
  }

  /// Writes the file if something has changed. Blocks.
  func save() {
    let text = state.withLock { state -> String? in
      guard state.isChanged else { return nil }
      state.isChanged = false
      return state.counts.map { "\($0.key) \($0.value.count) \($0.value.last ?? 0)\n" }.sorted().joined()
    }
    guard let text else { return }
    let passing = path + ".new"
    let raw = unsafe open(passing, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard raw >= 0 else { return }
    let file = Descriptor(owning: raw)
    let bytes = Array(text.utf8)
    if unsafe write(file.raw, bytes, bytes.count) == bytes.count { _ = unsafe rename(passing, path) }
  }
}
