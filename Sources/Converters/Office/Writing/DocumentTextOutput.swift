internal import WorkerKit

/// A buffer of text that is written to a job's result in large pieces, or kept until it is taken.
final class DocumentTextOutput {
  /// The job's result. `nil` if the text is kept.
  private let output: JobOutput?
  private var waiting: [UInt8] = []
  /// The number of bytes since the start or the last `take`.
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }
  private static let piece = 64 << 10

  init(_ output: JobOutput?) { self.output = output }

  func write(_ text: String) throws(JobFailure) {
    try write(text.utf8)
  }

  func write(_ bytes: some Collection<UInt8>) throws(JobFailure) {
    if bytes.isEmpty { return }
    waiting += bytes
    count += bytes.count
    if output != nil, waiting.count >= Self.piece { try flush() }
  }

  /// Removes and returns all bytes that were kept.
  func take() -> [UInt8] {
    defer { (waiting, count) = ([], 0) }
    return waiting
  }

  func flush() throws(JobFailure) {
    guard let output else { return }
    let bytes = waiting
    waiting.removeAll(keepingCapacity: true)
    try unsafe output.write(bytes.span.bytes)
  }
}
