internal import CPosix
internal import Glibc

/// Standard output and error, led into memory while a helper is started that outlives its start: whoever waits for the end of
/// what they lead to, as a shell does for `$(…)`, would wait for the helper's.
struct BorrowedStreams: ~Copyable {
  private let memory: Int32
  private let output: Int32
  private let errors: Int32

  /// nil where it cannot be done: then the helper has the streams.
  init?() {
    memory = unsafe ffmount_memfd("ffmount-helper")
    // Not among the standard streams, and not the helper's.
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    guard memory >= 0, output >= 0, errors >= 0 else {
      for descriptor in [memory, output, errors] where descriptor >= 0 { close(descriptor) }
      return nil
    }
    _ = dup2(memory, STDOUT_FILENO)
    _ = dup2(memory, STDERR_FILENO)
  }

  /// Leads the streams where they led before, and gives the last line that was written meanwhile.
  consuming func giveBack() -> String? {
    for (saved, stream) in [(output, STDOUT_FILENO), (errors, STDERR_FILENO)] {
      _ = dup2(saved, stream)
      close(saved)
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe pread(memory, &buffer, buffer.count, 0)
    close(memory)
    guard count > 0 else { return nil }
    return buffer[..<count].split(separator: UInt8(ascii: "\n")).last.map { String(decoding: $0, as: UTF8.self) }
  }
}
