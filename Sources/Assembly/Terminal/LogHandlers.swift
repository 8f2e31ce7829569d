internal import CPosix
internal import Glibc
package import Logging

/// Logs to the terminal: the message only.
package struct TerminalLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info

  package init() {}

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) { Terminal.logError("\(event.message)") }
}

/// Logs to syslog or the journal.
package struct SyslogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info

  package init(label: String) {
    // openlog keeps the pointer, so the string is never freed.
    unsafe ffmount_openlog(strdup(label))
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
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
