internal import CPosix
internal import Glibc

/// A redirection of standard output and error into memory while a helper is started.
///
/// The helper's output becomes the reason of a failure. The helper may also outlive its start. A caller that waits for
/// the end of these streams, as a shell does for `$(…)`, would otherwise wait for the helper to exit.
struct RedirectedOutput: ~Copyable {
  private let memory: Int32
  private let output: Int32
  private let errors: Int32

  /// Redirects the streams. Returns `nil` if that fails. The helper then inherits the streams.
  init?() {
    memory = unsafe ffmount_memfd("ffmount-helper")
    // Neither one of the standard streams nor inherited by the helper.
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    guard memory >= 0, output >= 0, errors >= 0 else {
      for descriptor in [memory, output, errors] where descriptor >= 0 { close(descriptor) }
      return nil
    }
    _ = dup2(memory, STDOUT_FILENO)
    _ = dup2(memory, STDERR_FILENO)
  }

  /// Restores the streams and returns the last line written meanwhile.
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
