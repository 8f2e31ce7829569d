internal import WorkerKit

/// Text on its way to a job's result, which gets it in large pieces, or kept until it is taken.
final class TextOutput {
  /// nil: it is kept.
  private let output: JobOutput?
  private var waiting: [UInt8] = []
  /// In bytes, from the start or the last taking on.
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

  /// All that was kept.
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
