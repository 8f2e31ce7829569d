internal import ArgumentParser
internal import Bytes
internal import Files
internal import Glibc

/// A file with secrets that an option names.
package enum PrivateFile {
  private static let largest = 1 << 20

  /// Returns the text of a file or a pipe, or of standard input for `-`. Throws if others can read the file. Blocks.
  ///
  /// - Parameters:
  ///   - option: The option, for errors.
  ///   - isLine: Whether only the first line is read.
  package static func text(at path: String, option: String, isLine: Bool = false) throws -> String {
    let name = "\(option) \(path)"
    let raw = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard raw >= 0 else { throw ValidationError("\(name): \(describe(errno)) (check the path and its permissions)") }
    let file = Descriptor(owning: raw)
    if path != "-", let status = try? file.status(), status.type == S_IFREG, status.raw.st_mode & 0o077 != 0 {
      throw ValidationError(
        "\(name): other users can read it (make it private with: chmod 600 \(ShellWord.quoted(path)))")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isLine || !bytes.contains(UInt8(ascii: "\n")) {
      let count = unsafe Glibc.read(file.raw, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ValidationError("\(name): \(describe(errno)) (give the path of a file)") }
      if count == 0 { break }
      bytes += buffer[..<count]
      guard bytes.count <= largest else { throw ValidationError("\(name): larger than 1 MiB") }
    }
    return String(decoding: isLine ? bytes.prefix { $0 != UInt8(ascii: "\n") } : bytes[...], as: UTF8.self)
  }
}
