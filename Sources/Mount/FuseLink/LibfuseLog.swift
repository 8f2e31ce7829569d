internal import CFuse3
internal import CPosix
internal import Glibc
internal import Locks

/// The capture of libfuse's log, so that its reasons appear in ffmount's own error messages.
enum LibfuseLog {
  private static let lastLine = UnfairLock<String?>(nil)

  /// The last line that libfuse logged.
  static var last: String? { lastLine.withLock { $0 } }

  static func install() {
    unsafe fuse_set_log_func { level, format, arguments in
      guard let format = unsafe format, let arguments = unsafe arguments else { return }
      var buffer = [CChar](repeating: 0, count: 1024)
      unsafe ffmount_format(&buffer, buffer.count, format, arguments)
      let line = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      LibfuseLog.take(line, isDebug: level.rawValue >= FUSE_LOG_DEBUG.rawValue)
    }
  }

  private static func take(_ line: String, isDebug: Bool) {
    if isDebug {
      // `-d`: the protocol, as printed by every FUSE program.
      _ = unsafe line.withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) }
      return
    }
    var text = line
    while text.last == "\n" { text.removeLast() }
    if let colon = text.range(of: "fuse: ") { text = String(text[colon.upperBound...]) }
    lastLine.withLock { $0 = text }
  }
}

extension String {
  /// Returns the range of `prefix` if the string starts with it. Avoids Foundation's range(of:).
  fileprivate func range(of prefix: String) -> Range<String.Index>? {
    hasPrefix(prefix) ? startIndex..<index(startIndex, offsetBy: prefix.count) : nil
  }
}
