internal import Files
internal import Glibc
internal import Locks

/// A reader of a worker's standard error, which logs each line.
final class ErrorLogger: Sendable {
  let descriptor: Descriptor
  private let log: @Sendable (String) -> Void
  private let state = UnfairLock<(line: [UInt8], isOpen: Bool)>(([], true))
  private static let longest = 500

  init(_ descriptor: consuming Descriptor, _ log: @escaping @Sendable (String) -> Void) {
    self.descriptor = descriptor
    self.log = log
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Logs the available lines, up to a limit, so that a process that never stops writing does not block the reader.
  func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<16 {
      let count = unsafe recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 { state.withLock { $0.isOpen = false } }
      guard count > 0 else { return }
      for byte in buffer[..<count] { take(byte) }
    }
  }

  private func take(_ byte: UInt8) {
    let line = state.withLock { state -> [UInt8] in
      if byte != 0x0a {
        if state.line.count < Self.longest { state.line.append(byte) }
        return []
      }
      defer { state.line = [] }
      return state.line
    }
    if !line.isEmpty { log(String(decoding: line.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)) }
  }
}
