internal import CFFmpeg

/// How one sample is written.
enum SampleCoding {
  case integer(bits: Int)
  /// Of 32 bits.
  case float

  var size: Int {
    switch self {
    case .integer(let bits): bits / 8
    case .float: 4
    }
  }

  /// What a decoder's samples become before they are written.
  var format: AVSampleFormat {
    switch self {
    case .integer(let bits): bits == 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
    case .float: AV_SAMPLE_FMT_FLT
    }
  }

  /// The bytes of packed samples; this machine is little-endian.
  func bytes(of frame: MediaFrame, channels: Int, isBigEndian: Bool) -> [UInt8] {
    guard let plane = unsafe frame.pointer.pointee.extended_data?.pointee else { return [] }
    let width = format == AV_SAMPLE_FMT_S16 ? 2 : 4
    let count = frame.sampleCount * channels
    let given = unsafe UnsafeBufferPointer(start: plane, count: count * width)
    // Of 32 bits the upper ones.
    let first = width - size
    if first == 0, !isBigEndian { return unsafe Array(given) }
    let size = size
    return unsafe [UInt8](unsafeUninitializedCapacity: count * size) { bytes, written in
      for sample in 0..<count {
        for place in 0..<size {
          let from = isBigEndian ? width - 1 - place : first + place
          unsafe bytes[sample * size + place] = given[sample * width + from]
        }
      }
      written = count * size
    }
  }
}
