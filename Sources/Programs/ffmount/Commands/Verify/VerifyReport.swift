import Assembly
import FileTrees
import Glibc
import SystemPackage

/// The result of `ffmount verify`: a line for each bad file on standard output, and counts.
struct VerifyReport {
  private let prefix: String
  private let isJSON: Bool
  private(set) var badCount = 0
  private var files = 0
  private var bytes: Int64 = 0
  private var unchecked = 0
  private var open = 0
  /// The size of the containers found, and of those already read, in bytes.
  private(set) var total: Int64 = 0
  private(set) var done: Int64 = 0
  /// The errno of a failed write, after which nothing more is written.
  private(set) var error: Int32?

  init(prefix: String, isJSON: Bool) {
    self.prefix = prefix
    self.isJSON = isJSON
  }

  mutating func note(_ event: VerifyWalk.Event) {
    switch event {
    case .found(let size): total += size
    case .finished(let size): done += size
    case .read(let count): bytes += count
    case .file(let result):
      files += 1
      if result.isOpen { open += 1 } else if !result.hasChecksum { unchecked += 1 }
    case .bad(let path, let reason): add(path, reason)
    }
  }

  private mutating func add(_ path: FilePath, _ reason: String) {
    // The double slash of an address is not one of a path.
    let path =
      prefix.contains("://")
      ? "\(prefix)\(prefix.hasSuffix("/") ? "" : "/")\(FilePath(root: nil, path.components).string)"
      : prefix.isEmpty ? path.string : FilePath(prefix).appending(path.components).string
    if isJSON {
      let object: JSON = ["path": .string(path), "reason": .string(reason)]
      write((badCount == 0 ? "{\n  \"bad\": [\n    " : ",\n    ") + object.text)
    } else {
      // A line break in a name would end the line.
      write("\(path.contains("\n") ? Terminal.shown(path) : path): \(reason)\n")
    }
    badCount += 1
  }

  mutating func finish() {
    guard isJSON else { return }
    let counts: JSON = [
      "files": JSON(files), "bytes": JSON(bytes), "withoutChecksum": JSON(unchecked), "unverified": JSON(open),
    ]
    write((badCount == 0 ? "{\n  \"bad\": []" : "\n  ]") + ",\n  \(counts.text.dropFirst().dropLast())\n}\n")
  }

  /// The summary for users.
  var summary: String {
    var parts = ["\(Amount.of(files, "file")) read, \(Amount.bytes(bytes))"]
    parts.append(badCount == 0 ? "none is damaged" : "\(badCount) damaged or unreadable")
    if unchecked > 0 { parts.append("\(unchecked) have no checksum") }
    if open > 0 { parts.append("\(open) could not be compared with their checksum") }
    return parts.joined(separator: "; ")
  }

  private mutating func write(_ text: String) {
    guard error == nil else { return }
    do throws(SystemError) { try Output.write(Array(text.utf8)) } catch { self.error = error.code }
  }
}
