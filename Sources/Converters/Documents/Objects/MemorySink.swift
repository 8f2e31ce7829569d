internal import WorkerKit

/// A new document in memory.
final class MemorySink: DocumentSink {
  private(set) var bytes: [UInt8] = []
  private let limit: Int
  private let tooLarge: JobFailure

  /// Creates an empty sink. Writing more than `limit` bytes throws `tooLarge`.
  init(limit: Int, _ tooLarge: JobFailure) {
    self.limit = limit
    self.tooLarge = tooLarge
  }

  func write(_ more: RawSpan) throws(JobFailure) {
    guard more.byteCount <= limit - bytes.count else { throw tooLarge }
    unsafe more.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  func truncate(to size: Int) { bytes.removeLast(bytes.count - size) }

  func reasonForFailure() {}
}
