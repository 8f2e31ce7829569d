internal import CAVCodec
internal import Glibc
internal import Locks

/// The error messages that libavcodec logs.
enum CodecWords {
  private static let last = UnfairLock("")

  /// Installs a callback that stores the last message.
  static func listen() {
    unsafe av_log_set_callback { _, level, format, arguments in
      guard level <= AV_LOG_ERROR, let format = unsafe format, let arguments = unsafe arguments else { return }
      unsafe CodecWords.keep(format, arguments)
    }
  }

  private static func keep(_ format: UnsafePointer<CChar>, _ arguments: CVaListPointer) {
    var line = [CChar](repeating: 0, count: 256)
    _ = unsafe vsnprintf(&line, line.count, format, arguments)
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    last.withLock { $0 = text }
  }

  /// Returns the last message and removes it.
  static func take() -> String {
    last.withLock { line in
      defer { line = "" }
      return line
    }
  }
}
