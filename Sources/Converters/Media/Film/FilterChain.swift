internal import CFFmpeg
internal import WorkerKit

/// A chain of filters for pictures or samples whose kind may change midway: a graph is for one kind.
final class FilterChain {
  private let filters: String
  private let palette: MediaFrame?
  /// Samples in a run that comes out, 0 for any number; nil for pictures.
  private let runLength: Int32?
  private var graph: FilterGraph?
  private var entry = ""

  /// For pictures. `palette`: as `FilterGraph` has it.
  init(_ filters: String, palette: MediaFrame? = nil) {
    self.filters = filters
    self.palette = palette
    runLength = nil
  }

  /// For samples.
  init(_ filters: String, runLength: Int32) {
    self.filters = filters
    self.runLength = runLength
    palette = nil
  }

  /// Calls `body` with all that comes out for a frame that goes in, and the unit of its time. Takes what the frame holds.
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

  /// Calls `body` with what is left.
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
