internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A filter that changes the speed of audio without changing its pitch.
@safe final class TempoFilter {
  private let graph: UnsafeMutablePointer<AVFilterGraph>
  private let source: UnsafeMutablePointer<AVFilterContext>
  private let sink: UnsafeMutablePointer<AVFilterContext>

  init(_ speed: PlaySpeed, _ shape: SoundShape) throws(JobFailure) {
    guard let graph = unsafe avfilter_graph_alloc() else { throw .noMemory() }
    unsafe self.graph = graph
    unsafe graph.pointee.nb_threads = 1
    let format = unsafe av_get_sample_fmt_name(shape.format).map { unsafe String(cString: $0) } ?? ""
    let layout = shape.speakers == 0 ? "\(shape.channels)C" : "0x" + String(shape.speakers, radix: 16)
    let tempo = "\(Double(speed.hundredths) / 100)"
    do throws(JobFailure) {
      unsafe source = try Self.add(
        "abuffer", "sample_rate=\(shape.rate):sample_fmt=\(format):channel_layout=\(layout)", to: graph)
      // Stretches time by phases, not by repeating pieces. Uses atempo if the installed FFmpeg has nothing else.
      let hasStretcher = unsafe avfilter_get_by_name("rubberband") != nil
      let filter =
        try unsafe hasStretcher
        ? Self.add("rubberband", "tempo=\(tempo)", to: graph) : Self.add("atempo", "tempo=\(tempo)", to: graph)
      unsafe sink = try Self.add("abuffersink", nil, to: graph)
      try unsafe checked(avfilter_link(source, 0, filter, 0), "cannot be played at that speed")
      try unsafe checked(avfilter_link(filter, 0, sink, 0), "cannot be played at that speed")
      try unsafe checked(avfilter_graph_config(graph, nil), "cannot be played at that speed")
    } catch {
      var last: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
      unsafe avfilter_graph_free(&last)
      throw error
    }
  }

  deinit {
    var last: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
    unsafe avfilter_graph_free(&last)
  }

  private static func add(
    _ name: String, _ arguments: String?, to graph: UnsafeMutablePointer<AVFilterGraph>
  ) throws(JobFailure) -> UnsafeMutablePointer<AVFilterContext> {
    var made: UnsafeMutablePointer<AVFilterContext>?
    let code = unsafe avfilter_graph_create_filter(&made, avfilter_get_by_name(name), name, arguments, nil, graph)
    guard code >= 0, let made = unsafe made else { throw JobFailure("cannot be played at that speed", media: code) }
    return unsafe made
  }

  /// Calls `body` with the filter's output for a frame. `nil` ends the input.
  func filter(
    _ frame: MediaFrame?, _ body: (MediaFrame, SoundShape) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try unsafe checked(
      av_buffersrc_add_frame_flags(source, frame?.pointer, Int32(AV_BUFFERSRC_FLAG_KEEP_REF)),
      "cannot be played at that speed")
    let output = try MediaFrame()
    while unsafe av_buffersink_get_frame(sink, output.pointer) >= 0 {
      if let shape = output.shape, output.sampleCount > 0 { try body(output, shape) }
      output.clear()
    }
  }
}
