import CPosix
import Glibc
import Logging

/// Logs to the terminal: the message only.
struct TerminalLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { Terminal.logError("\(event.message)") }
}

/// Logs to syslog or the journal.
struct SyslogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  init(label: String) {
    // openlog keeps the pointer, so the string is never freed.
    unsafe ffmount_openlog(strdup(label))
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let priority =
      switch event.level {
      case .trace, .debug: LOG_DEBUG
      case .info: LOG_INFO
      case .notice: LOG_NOTICE
      case .warning: LOG_WARNING
      case .error: LOG_ERR
      case .critical: LOG_CRIT
      }
    unsafe ffmount_syslog(priority, "\(event.message)")
  }
}
