import ArgumentParser
import Glibc

/// A file of passwords, one a line: bytes as they are up to LF or CRLF.
///
/// It is read while the options are, before the daemon leaves the folder that a relative path starts from.
enum PasswordFile {
  private static let largest = 1 << 20

  /// Throws a sentence that names the file, never what is in it.
  static func passwords(at path: String) throws -> [[UInt8]] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { throw refusal(path, "\(describe(errno)) (check the path and its permissions)") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw refusal(path, describe(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw refusal(path, "not a file") }
    guard status.st_mode & 0o077 == 0 else {
      throw refusal(path, "others than its owner can read it (make it private with: chmod 600 \(path))")
    }
    guard status.st_size <= largest else { throw refusal(path, "larger than 1 MiB") }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress! + count, $0.count - count) }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw refusal(path, describe(errno)) }
      if got == 0 { break }
      count += got
    }
    let passwords = lines(bytes[..<count])
    guard !passwords.isEmpty else { throw refusal(path, "no password in it (write one a line)") }
    return passwords
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    bytes.split(separator: 0x0a).map { Array($0.last == 0x0d ? $0.dropLast() : $0) }.filter { !$0.isEmpty }
  }

  private static func refusal(_ path: String, _ reason: String) -> ValidationError {
    ValidationError("-o password_file=\(path): \(reason)")
  }
}
