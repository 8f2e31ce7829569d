internal import WorkerKit

/// Text on its way to a job's result, which gets it in large pieces.
final class TextOutput {
  private let output: JobOutput
  private var waiting: [UInt8] = []
  private(set) var isEmpty = true
  private static let piece = 64 << 10

  init(_ output: JobOutput) { self.output = output }

  func write(_ text: String) throws(JobFailure) {
    if text.isEmpty { return }
    isEmpty = false
    waiting += text.utf8
    if waiting.count >= Self.piece { try flush() }
  }

  func flush() throws(JobFailure) {
    let bytes = waiting
    waiting.removeAll(keepingCapacity: true)
    try unsafe output.write(bytes.span.bytes)
  }
}
