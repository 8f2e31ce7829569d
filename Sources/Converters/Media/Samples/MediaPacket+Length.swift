internal import CFFmpeg
internal import WorkerKit

extension MediaStream {
  /// Whether each packet starts with the header of an MPEG audio frame.
  var isMPEGSound: Bool { ["mp3", "mp2"].contains(codecName) }

  /// Whether all samples in packets are those of the sound.
  var hasNoPadding: Bool { ["flac", "tta", "wavpack"].contains(codecName) || codecName.hasPrefix("pcm_") }
}

extension MediaPacket {
  /// The presentation time. `nil` if the container does not record it.
  var time: Int64? {
    let time = unsafe pointer.pointee.pts
    return time == ffmedia_no_time ? nil : time
  }

  private var bytes: UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: pointer.pointee.data, count: max(0, Int(pointer.pointee.size)))
  }

  /// Whether the packet starts with the header of an MPEG audio frame (ISO 11172-3, 2.4.1.3).
  var isMPEGFrame: Bool {
    let bytes = unsafe bytes
    guard bytes.count >= 4, unsafe bytes[0] == 0xff, unsafe bytes[1] & 0xe0 == 0xe0 else { return false }
    let (version, layer, code, rate) = unsafe (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3, bytes[2] >> 4, bytes[2] >> 2 & 3)
    return version != 1 && layer != 0 && (1...14).contains(code) && rate != 3
  }

  /// Drops tags before an MPEG frame (ID3v2.4, 3.1), as they are where files were joined without a program for it. The
  /// decoder would ignore the whole packet.
  func dropTags() {
    while true {
      let bytes = unsafe bytes
      guard bytes.count > 10, unsafe bytes.prefix(3).elementsEqual("ID3".utf8) else { return }
      let count = 10 + (6..<10).reduce(0) { unsafe $0 << 7 | Int(bytes[$1] & 127) }
      guard count < bytes.count else { return }
      unsafe pointer.pointee.data += count
      unsafe pointer.pointee.size -= Int32(count)
    }
  }

  /// The number of samples at 48 kHz in a packet of Opus (RFC 6716, 3.1). `nil` if the packet is invalid.
  var opusLength: Int64? {
    let bytes = unsafe bytes
    guard let first = unsafe bytes.first else { return nil }
    let configuration = Int(first >> 3)
    let frame: Int64 =
      configuration < 12
      ? [480, 960, 1920, 2880][configuration & 3]
      : configuration < 16 ? [480, 960][configuration & 1] : [120, 240, 480, 960][configuration & 3]
    switch first & 3 {
    case 0: return frame
    case 1, 2: return 2 * frame
    default: return bytes.count > 1 ? unsafe Int64(bytes[1] & 63) * frame : nil
    }
  }

  /// The number of samples in a frame of FLAC (RFC 9639, 9.1.1). `nil` if the frame is invalid.
  var flacLength: Int64? {
    let bytes = unsafe bytes
    guard bytes.count >= 16, unsafe bytes[0] == 0xff, unsafe bytes[1] & 0xfc == 0xf8 else { return nil }
    let code = unsafe Int(bytes[2] >> 4)
    // The frame's number precedes the size, in one to seven bytes.
    let place = 4 + max(1, unsafe (~bytes[4]).leadingZeroBitCount)
    switch code {
    case 1: return 192
    case 2...5: return 576 << Int64(code - 2)
    case 6: return unsafe Int64(bytes[place]) + 1
    case 7: return unsafe Int64(bytes[place]) << 8 + Int64(bytes[place + 1]) + 1
    case 8...15: return 256 << Int64(code - 8)
    default: return nil
    }
  }

  /// The number of samples in a packet of ALAC that records it, as the last one does. `nil` for other packets.
  var alacLength: Int64? {
    let bytes = unsafe bytes
    // After 3, 4 and 12 bits, a bit tells whether 32 bits with the number follow, after 3 more.
    guard bytes.count >= 7, unsafe bytes[2] & 0x10 != 0 else { return nil }
    let words = (2..<7).reduce(0 as Int64) { unsafe $0 << 8 | Int64(bytes[$1]) }
    let length = words >> 1 & 0xffff_ffff
    return length > 0 && length <= 1 << 16 ? length : nil
  }

  /// The number of samples in a frame of DTS (ETSI TS 102 114, 5.3). `nil` if the frame does not start with its core.
  var dtsLength: Int64? {
    let bytes = unsafe bytes
    guard bytes.count >= 6, unsafe bytes.prefix(4).elementsEqual([0x7f, 0xfe, 0x80, 0x01]) else { return nil }
    return unsafe (Int64(bytes[4] & 1) << 6 + Int64(bytes[5] >> 2) + 1) * 32
  }

  /// The number of samples in a frame of E-AC-3 (ETSI TS 102 366, E.1.3.1). `nil` if the frame is invalid or depends on
  /// another.
  var eac3Length: Int64? {
    let bytes = unsafe bytes
    guard bytes.count >= 5, unsafe bytes[0] == 0x0b && bytes[1] == 0x77 && bytes[2] >> 6 == 0 else { return nil }
    let (rate, blocks) = unsafe (bytes[4] >> 6, Int(bytes[4] >> 4 & 3))
    return rate == 3 ? 1536 : [256, 512, 768, 1536][blocks]
  }

  /// The numbers of padding samples at the packet's start and end.
  var padding: (first: Int64, last: Int64) {
    var size = 0
    guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else {
      return (0, 0)
    }
    func word(_ place: Int) -> Int64 {
      (0..<4).reduce(0) { unsafe $0 | Int64(data[place + $1]) << (8 * Int64($1)) }
    }
    return (word(0), word(4))
  }

  /// Marks samples at the packet's end as padding.
  func setEndPadding(_ count: Int64) throws(JobFailure) {
    guard let data = unsafe av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10) else { throw .noMemory() }
    for place in 0..<10 {
      unsafe data[place] = 4..<8 ~= place ? UInt8(truncatingIfNeeded: count >> Int64(8 * (place - 4))) : 0
    }
  }

  /// Removes the mark of padding at the packet's end. For callers that know the total number of samples.
  func keepEnd() {
    var size = 0
    guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else { return }
    for place in 4..<8 { unsafe data[place] = 0 }
  }
}
