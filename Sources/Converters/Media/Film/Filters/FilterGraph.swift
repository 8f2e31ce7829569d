internal import CFFmpeg
internal import WorkerKit

/// A chain of FFmpeg's filters, which changes decoded pictures or samples before they are encoded.
@safe final class FilterGraph {
  private let graph: UnsafeMutablePointer<AVFilterGraph>
  private let source: UnsafeMutablePointer<AVFilterContext>
  private let sink: UnsafeMutablePointer<AVFilterContext>
  private let frame: MediaFrame
  /// The start and end time of the last picture.
  private var last: (start: Int64, end: Int64)?
  /// The unit of the output's times.
  var timeBase: AVRational { unsafe av_buffersink_get_time_base(sink) }

  /// - Parameters:
  ///   - kind: the prefix of FFmpeg's filter names, `""` for pictures and `"a"` for samples.
  ///   - entry: the parameters of the filter `buffer` for the input.
  ///   - palette: a picture that is passed first, to the input that the chain calls `palette`.
  init(_ kind: String, from entry: String, _ chain: String, palette: MediaFrame? = nil) throws(JobFailure) {
    guard let graph = unsafe avfilter_graph_alloc() else { throw .noMemory() }
    frame = try MediaFrame()
    unsafe graph.pointee.nb_threads = 2
    var last: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
    do throws(JobFailure) {
      unsafe source = try Self.add("\(kind)buffer", entry, to: graph)
      unsafe sink = try Self.add("\(kind)buffersink", nil, to: graph)
      var colours: UnsafeMutablePointer<AVFilterContext>?
      if let palette {
        unsafe colours = try Self.add("buffer", Self.entry(of: palette, AVRational(num: 1, den: 25)), to: graph)
      }
      try unsafe Self.connect(source, colours, sink, by: chain, in: graph)
      if let palette, let colours = unsafe colours {
        try unsafe checked(av_buffersrc_add_frame_flags(colours, palette.pointer, 8), "cannot be changed this way")
        try unsafe checked(av_buffersrc_add_frame_flags(colours, nil, 0), "cannot be changed this way")
      }
      unsafe self.graph = graph
    } catch {
      unsafe avfilter_graph_free(&last)
      throw error
    }
  }

  deinit {
    var last: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
    unsafe avfilter_graph_free(&last)
  }

  /// Returns the parameters of the filter `buffer` for a picture.
  static func entry(of picture: MediaFrame, _ timeBase: AVRational) -> String {
    unsafe """
    video_size=\(picture.pointer.pointee.width)x\(picture.pointer.pointee.height):\
    pix_fmt=\(picture.pointer.pointee.format):time_base=\(timeBase.num)/\(timeBase.den):pixel_aspect=1/1
    """
  }

  private static func add(
    _ filter: String, _ arguments: String?, to graph: UnsafeMutablePointer<AVFilterGraph>
  ) throws(JobFailure) -> UnsafeMutablePointer<AVFilterContext> {
    var made: UnsafeMutablePointer<AVFilterContext>?
    try unsafe checked(
      avfilter_graph_create_filter(&made, avfilter_get_by_name(filter), nil, arguments, nil, graph),
      "has pictures or sound of a kind that cannot be changed")
    guard let made = unsafe made else { throw .noMemory() }
    return unsafe made
  }

  private static func connect(
    _ source: UnsafeMutablePointer<AVFilterContext>, _ palette: UnsafeMutablePointer<AVFilterContext>?,
    _ sink: UnsafeMutablePointer<AVFilterContext>, by chain: String, in graph: UnsafeMutablePointer<AVFilterGraph>
  ) throws(JobFailure) {
    var outputs = unsafe avfilter_inout_alloc()
    var inputs = unsafe avfilter_inout_alloc()
    defer {
      unsafe avfilter_inout_free(&outputs)
      unsafe avfilter_inout_free(&inputs)
    }
    guard let open = unsafe outputs, let end = unsafe inputs else { throw .noMemory() }
    unsafe open.pointee.name = av_strdup("in")
    unsafe open.pointee.filter_ctx = unsafe source
    if let palette = unsafe palette {
      guard let second = unsafe avfilter_inout_alloc() else { throw .noMemory() }
      unsafe second.pointee.name = av_strdup("palette")
      unsafe second.pointee.filter_ctx = unsafe palette
      unsafe open.pointee.next = unsafe second
    }
    unsafe end.pointee.name = av_strdup("out")
    unsafe end.pointee.filter_ctx = unsafe sink
    try unsafe checked(avfilter_graph_parse_ptr(graph, chain, &inputs, &outputs, nil), "cannot be changed this way")
    try unsafe checked(avfilter_graph_config(graph, nil), "cannot be changed this way")
  }

  /// Records the end of a picture. The filters cannot know how long the last one is shown.
  private func note(_ input: MediaFrame) {
    let start = unsafe input.pointer.pointee.pts
    guard unsafe input.pointer.pointee.width > 0, start != ffmedia_no_time else { return }
    let own = unsafe ffmedia_frame_duration(input.pointer)
    let length = own > 0 ? own : max(0, start &- (last?.start ?? start))
    last = (start, start.addingReportingOverflow(length).partialValue)
  }

  /// Sets the number of samples in an output frame.
  func setRunLength(_ count: Int32) { unsafe av_buffersink_set_frame_size(sink, UInt32(max(0, count))) }

  /// Calls `body` with each output frame for an input frame. `nil` ends the input. Takes the contents of `input`.
  func filter(_ input: MediaFrame?, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    if let input {
      note(input)
      try unsafe checked(av_buffersrc_add_frame_flags(source, input.pointer, 0), "cannot be changed this way")
    } else {
      try unsafe checked(av_buffersrc_close(source, last?.end ?? ffmedia_no_time, 0), "cannot be changed this way")
    }
    while true {
      let came = unsafe av_buffersink_get_frame(sink, frame.pointer)
      if came == ffmedia_again || came == ffmedia_end { return }
      try checked(came, "cannot be changed this way")
      try body(frame)
      frame.clear()
    }
  }
}
