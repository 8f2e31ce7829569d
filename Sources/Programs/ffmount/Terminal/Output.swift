import Glibc

/// Standard output and the like.
enum Output {
  /// Writes all bytes. Throws the errno of a write that failed. Blocks while the reader of a pipe does not read.
  static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw SystemError(code: errno) }
      rest = rest.dropFirst(written)
    }
  }
}
