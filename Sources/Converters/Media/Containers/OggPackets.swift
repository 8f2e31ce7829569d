internal import CFFmpeg
internal import WorkerKit

/// A reader of the packets of an Ogg file that contains Vorbis.
///
/// The number of samples in the last page can end the sound within the last packet but one. FFmpeg then gives the last
/// packet a negative length, without its sign, and the decoder ignores the cut. Here the packet before is shortened, and
/// the last packet is left out.
@safe final class OggPackets {
  /// The next packet, and FFmpeg's result of reading it.
  private let ahead: MediaPacket
  private var result: Int32 = 0
  private var hasRead = false

  init() throws(JobFailure) { ahead = try MediaPacket() }

  /// Reads the next packet. Returns FFmpeg's result.
  func read(_ context: UnsafeMutablePointer<AVFormatContext>, into packet: MediaPacket) throws(JobFailure) -> Int32 {
    if !hasRead { unsafe result = av_read_frame(context, ahead.pointer) }
    hasRead = true
    guard result >= 0 else { return result }
    unsafe av_packet_move_ref(packet.pointer, ahead.pointer)
    unsafe result = av_read_frame(context, ahead.pointer)
    while result >= 0, let excess = ahead.excess {
      if ahead.stream == packet.stream { try packet.shorten(by: excess) }
      ahead.clear()
      unsafe result = av_read_frame(context, ahead.pointer)
    }
    return 0
  }

  /// Forgets the next packet, before a seek.
  func clear() {
    ahead.clear()
    hasRead = false
  }
}

extension MediaPacket {
  /// The number of samples by which a negative length, stored in 32 bits without its sign, is below 0. `nil` if the
  /// packet has a length.
  fileprivate var excess: Int64? {
    let length = unsafe pointer.pointee.duration
    return 1 << 31..<1 << 32 ~= length ? (1 << 32) - length : nil
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
