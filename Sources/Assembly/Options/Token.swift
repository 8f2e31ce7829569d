internal import ArgumentParser
internal import Bytes
internal import Files
internal import Glibc

/// The access token of a server.
package enum Token {
  /// The environment variable with a token.
  package static let variable = "FFMOUNT_TOKEN"

  /// The maximum number of bytes read from a file, which can contain more than the token.
  private static let largestFile = 64 << 10

  /// Throws if a token is invalid.
  ///
  /// - Parameter place: The origin of the token, for the error.
  package static func check(_ token: String, from place: String) throws {
    guard (8...1024).contains(token.utf8.count), token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ValidationError("\(place): expected 8 or more ASCII characters without blanks")
    }
  }

  /// Returns the first line of a file, of a pipe, or of standard input for `-`. Throws if others can read the file.
  /// Blocks.
  package static func read(from path: String) throws -> String {
    let name = "--token-file \(path)"
    let raw = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard raw >= 0 else { throw ValidationError("\(name): \(describe(errno)) (check the path and its permissions)") }
    let file = Descriptor(owning: raw)
    if path != "-", let status = try? file.status(), status.type == S_IFREG, status.raw.st_mode & 0o077 != 0 {
      throw ValidationError(
        "\(name): other users can read it (make it private with: chmod 600 \(ShellWord.quoted(path)))")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < largestFile, !bytes.contains(UInt8(ascii: "\n")) {
      let count = unsafe Glibc.read(file.raw, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ValidationError("\(name): \(describe(errno))") }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let token = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    try check(token, from: name)
    return token
  }
}
