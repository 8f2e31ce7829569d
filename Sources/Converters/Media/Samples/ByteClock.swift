internal import CFFmpeg

/// A correction of packet times in an AVI file whose header gives one byte the length of a packet, as FFmpeg writes
/// G.726.
struct ByteClock {
  /// The true time of a byte, in units of the stream's time, as a fraction.
  private let units: Int64
  private let bytes: Int64

  /// The minimum factor by which the times are wrong. Smaller differences are the drift of a recording.
  private static let leastFactor: Int64 = 2

  /// Returns `nil` if the packets' times agree with their lengths, or if the file has no index.
  init?(_ stream: UnsafeMutablePointer<AVStream>) {
    guard let first = unsafe avformat_index_get_entry(stream, 0)?.pointee,
      let second = unsafe avformat_index_get_entry(stream, 1)?.pointee
    else { return nil }
    let base = unsafe stream.pointee.time_base
    let rate = Int64(unsafe stream.pointee.codecpar.pointee.sample_rate)
    let (size, step) = (Int64(first.size), second.timestamp.subtractingReportingOverflow(first.timestamp).partialValue)
    let samples = Int64(unsafe av_get_audio_frame_duration2(stream.pointee.codecpar, first.size))
    let block = Int64(unsafe stream.pointee.codecpar.pointee.block_align)
    // The index counts bytes, packets count blocks. If both count packets, nothing is wrong.
    guard samples > 0, rate > 0, base.num > 0, base.den > 0, block > 0, size > 0, step == size else { return nil }
    units = samples * Int64(base.den)
    let told = (size / block).multipliedReportingOverflow(by: rate * Int64(base.num))
    guard !told.overflow, told.partialValue / Self.leastFactor > units else { return nil }
    bytes = told.partialValue
  }

  /// Corrects the packet's times.
  func mend(_ packet: MediaPacket) {
    unsafe packet.pointer.pointee.pts = mended(packet.pointer.pointee.pts)
    unsafe packet.pointer.pointee.dts = mended(packet.pointer.pointee.dts)
  }

  private func mended(_ time: Int64) -> Int64 { time == ffmedia_no_time ? time : av_rescale(time, units, bytes) }
}
