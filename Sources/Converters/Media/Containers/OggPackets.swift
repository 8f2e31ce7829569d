internal import CFFmpeg
internal import WorkerKit

/// A reader of the packets of an Ogg file that contains Vorbis.
///
/// The number of samples in the last page can end the sound within the last packet but one. FFmpeg then gives the last
/// packet a negative length, without its sign, and the decoder ignores the cut. Here the packet before is shortened, and
/// the last packet is left out.
///
/// The first packet yields no samples, so the second starts at 0. If all packets are in one page, FFmpeg starts the first
/// at 0, and the last ends early by its length. Here both are corrected.
@safe final class OggPackets {
  /// The next packet, and FFmpeg's result of reading it.
  private let ahead: MediaPacket
  private var result: Int32 = 0
  private var hasRead = false
  /// The number of samples by which FFmpeg's times of a stream are late, from its first packet on.
  private var delays: [Int: Int64] = [:]

  init() throws(JobFailure) { ahead = try MediaPacket() }

  /// Reads the next packet. Returns FFmpeg's result.
  func read(_ context: UnsafeMutablePointer<AVFormatContext>, into packet: MediaPacket) throws(JobFailure) -> Int32 {
    if !hasRead { try unsafe readAhead(context) }
    hasRead = true
    guard result >= 0 else { return result }
    unsafe av_packet_move_ref(packet.pointer, ahead.pointer)
    try unsafe readAhead(context)
    while result >= 0, let excess = ahead.excess {
      if ahead.stream == packet.stream { try packet.shorten(by: excess) }
      ahead.clear()
      try unsafe readAhead(context)
    }
    return 0
  }

  private func readAhead(_ context: UnsafeMutablePointer<AVFormatContext>) throws(JobFailure) {
    unsafe result = av_read_frame(context, ahead.pointer)
    guard result >= 0, let stream = unsafe context.pointee.streams[ahead.stream],
      unsafe stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_VORBIS
    else { return }
    let delay = unsafe delays[ahead.stream] ?? (ahead.time == 0 ? max(0, ahead.pointer.pointee.duration) : 0)
    delays[ahead.stream] = delay
    if delay > 0 { try ahead.advance(by: delay) }
  }

  /// Forgets the next packet, before a seek.
  func clear() {
    ahead.clear()
    hasRead = false
    delays = [:]
  }
}

extension MediaPacket {
  /// The number of samples by which a negative length, stored in 32 bits without its sign, is below 0. `nil` if the
  /// packet has a length.
  fileprivate var excess: Int64? {
    let length = unsafe pointer.pointee.duration
    return 1 << 31..<1 << 32 ~= length ? (1 << 32) - length : nil
  }

  /// Moves the packet to an earlier time. If its end was cut off, it ends at the same time as before.
  fileprivate func advance(by delay: Int64) throws(JobFailure) {
    if let time { unsafe pointer.pointee.pts = time - delay }
    let cut = padding.last
    guard cut > 0 else { return }
    let length = unsafe pointer.pointee.duration
    let whole = (excess.map { -$0 } ?? length) + delay
    unsafe pointer.pointee.duration = whole >= 0 ? whole : whole + 1 << 32
    try setEndPadding(max(0, cut - delay))
  }

  /// Cuts samples off the end.
  fileprivate func shorten(by count: Int64) throws(JobFailure) {
    let length = unsafe max(0, pointer.pointee.duration)
    // Without a length, the packet stays as it is.
    let cut = min(count, length)
    guard cut > 0 else { return }
    try setEndPadding(cut)
    unsafe pointer.pointee.duration = length - cut
  }
}
