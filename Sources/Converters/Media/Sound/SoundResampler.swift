internal import CFFmpeg
internal import WorkerKit

/// A converter of samples to another shape.
@safe final class SoundResampler {
  let source: SoundShape
  let target: SoundShape
  private let context: OpaquePointer

  init(from source: SoundShape, to target: SoundShape) throws(JobFailure) {
    self.source = source
    self.target = target
    var made: OpaquePointer?
    var (from, to) = unsafe (source.layout, target.layout)
    let code = unsafe swr_alloc_set_opts2(
      &made, &to, target.format, Int32(target.rate), &from, source.format, Int32(source.rate), 0, nil)
    guard code >= 0, let made = unsafe made else { throw .noMemory() }
    unsafe context = made
    if source.rate != target.rate || source.channels != target.channels {
      // With integers, the result depends on the number of samples that are mixed at a time.
      let isWide = [source, target].contains { [AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P].contains($0.format) }
      let inner = isWide ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_FLTP
      unsafe av_opt_set_sample_fmt(UnsafeMutableRawPointer(made), "internal_sample_fmt", inner, 0)
      // Two channels are averaged, so that full scale is not exceeded, even in floating point.
      if source.channels <= 2 { unsafe av_opt_set_double(UnsafeMutableRawPointer(made), "rematrix_maxval", 1, 0) }
    }
    try unsafe checked(swr_init(made), "has channels that do not become \(target.channels)")
  }

  deinit {
    var last: OpaquePointer? = unsafe context
    unsafe swr_free(&last)
  }

  /// Converts a frame into `output`, which may be empty afterwards. `nil` converts the remaining samples at the end.
  func convert(_ frame: MediaFrame?, into output: MediaFrame) throws(JobFailure) {
    let count = frame?.sampleCount ?? 0
    let room = unsafe swr_get_out_samples(context, Int32(count))
    guard room > 0, output.allocate(Int(room), target) else {
      output.clear()
      if room < 0 { throw .noMemory() }
      return
    }
    let target = unsafe output.pointer.pointee.extended_data
    let came: Int32
    if let frame, let planes = unsafe frame.pointer.pointee.extended_data {
      came = unsafe planes.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: source.channels) { planes in
        unsafe swr_convert(context, target, room, planes, Int32(count))
      }
    } else {
      came = unsafe swr_convert(context, target, room, nil, 0)
    }
    try checked(came, "has sound that is damaged")
    output.keep(first: Int(came))
  }
}
