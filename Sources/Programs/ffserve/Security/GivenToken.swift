import Assembly
import Glibc

/// The token given by the user.
enum GivenToken {
  /// Returns the token of an option, otherwise that of the environment, from which it is removed. Returns `nil` if
  /// there is none. Reads `--token-file`, and hides `--token` in process listings. Blocks.
  static func find(_ options: ServeOptions) throws -> String? {
    let known = unsafe getenv(Token.variable).map { unsafe String(cString: $0) }
    // Workers do not need the token.
    _ = unsafe unsetenv(Token.variable)
    if let token = options.token {
      hide(token)
      return token
    }
    if let path = options.tokenFile { return try Token.read(from: path) }
    guard let known, !options.noToken else { return nil }
    try Token.check(known, from: Token.variable)
    return known
  }

  /// Returns whether the file of `--token-file` can be read again.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    return path != "-" && isThere && status.st_mode & S_IFMT == S_IFREG
  }

  /// Overwrites a word in the command line that the kernel shows for this process. It is visible until then, so a file
  /// is preferable.
  private static func hide(_ word: String) {
    guard let area = unsafe commandLine else { return }
    let word = Array(word.utf8)
    for start in 0..<max(0, area.count - word.count + 1) {
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: area[start..<start + word.count])
      if unsafe place.elementsEqual(word) { for index in 0..<word.count { unsafe place[index] = UInt8(ascii: "*") } }
    }
  }

  /// The memory of the command line that the kernel shows (proc_pid_stat(5), fields 48 and 49). Nil if it is unknown.
  private static var commandLine: UnsafeMutableRawBufferPointer? {
    guard let file = unsafe fopen("/proc/self/stat", "re") else { return nil }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    // The program's name, in parentheses, may contain spaces.
    guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = buffer[(end + 1)..<count].split(separator: UInt8(ascii: " "))
    guard fields.count > 46, let start = UInt(String(decoding: fields[45], as: UTF8.self)),
      let end = UInt(String(decoding: fields[46], as: UTF8.self)), start > 0, end > start, end - start < 4 << 20
    else { return nil }
    return unsafe UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(bitPattern: start), count: Int(end - start))
  }
}
