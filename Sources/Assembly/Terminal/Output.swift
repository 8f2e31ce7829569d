internal import Glibc
internal import Locks

/// Writes to standard output and other descriptors.
package enum Output {
  /// The errno of the first write to standard output that failed.
  private static let failure = UnfairLock<Int32?>(nil)

  /// Writes all bytes. Throws the errno of a write that failed. Blocks while the reader of a pipe does not read.
  package static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        let code = errno
        if descriptor == STDOUT_FILENO { failure.withLock { $0 = $0 ?? code } }
        throw SystemError(code: code)
      }
      rest = rest.dropFirst(written)
    }
  }

  /// Throws a refusal if printed text could not be written, unless the reader of a pipe has closed it.
  package static func finish() throws {
    let flushed = fflush(nil) == 0 ? nil : errno
    if let code = flushed ?? failure.withLock({ $0 }), code != EPIPE {
      throw Refusal(.failure, "cannot print: \(describe(code))")
    }
  }
}
