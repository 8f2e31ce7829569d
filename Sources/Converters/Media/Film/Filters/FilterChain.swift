internal import CFFmpeg
internal import WorkerKit

/// A chain of filters for frames whose format can change midway. A `FilterGraph` accepts a single format.
final class FilterChain {
  private let filters: String
  private let palette: MediaFrame?
  /// The number of samples in an output frame, or 0 for any number. `nil` for pictures.
  private let runLength: Int32?
  private var graph: FilterGraph?
  private var entry = ""

  /// Creates a chain for pictures. `palette` is as in `FilterGraph`.
  init(_ filters: String, palette: MediaFrame? = nil) {
    self.filters = filters
    self.palette = palette
    runLength = nil
  }

  /// Creates a chain for samples.
  init(_ filters: String, runLength: Int32) {
    self.filters = filters
    self.runLength = runLength
    palette = nil
  }

  /// Calls `body` with each output frame for an input frame, and the unit of its time. Takes the contents of `frame`.
  func filter(
    _ frame: MediaFrame, entry: String, _ body: (MediaFrame, AVRational) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    if graph == nil || entry != self.entry {
      try finish(body)
      graph = try FilterGraph(runLength == nil ? "" : "a", from: entry, filters, palette: palette)
      if let runLength { graph?.setRunLength(runLength) }
      self.entry = entry
    }
    try run(frame, body)
  }

  /// Calls `body` with the remaining frames.
  func finish(_ body: (MediaFrame, AVRational) throws(JobFailure) -> Void) throws(JobFailure) {
    try run(nil, body)
    graph = nil
  }

  private func run(
    _ frame: MediaFrame?, _ body: (MediaFrame, AVRational) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    guard let graph else { return }
    let timeBase = graph.timeBase
    try graph.filter(frame) { (made) throws(JobFailure) in try body(made, timeBase) }
  }
}
