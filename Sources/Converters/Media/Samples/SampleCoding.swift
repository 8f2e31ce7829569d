internal import CFFmpeg

/// The encoding of a sample.
enum SampleCoding {
  case integer(bits: Int)
  /// A floating-point number of 32 bits.
  case float

  var size: Int {
    switch self {
    case .integer(let bits): bits / 8
    case .float: 4
    }
  }

  /// The format to which decoded samples are converted before they are written.
  var format: AVSampleFormat {
    switch self {
    case .integer(let bits): bits == 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
    case .float: AV_SAMPLE_FMT_FLT
    }
  }

  /// Returns the bytes of packed samples. This machine is little-endian.
  func bytes(of frame: MediaFrame, channels: Int, isBigEndian: Bool) -> [UInt8] {
    guard let plane = unsafe frame.pointer.pointee.extended_data?.pointee else { return [] }
    let width = format == AV_SAMPLE_FMT_S16 ? 2 : 4
    let count = frame.sampleCount * channels
    let given = unsafe UnsafeBufferPointer(start: plane, count: count * width)
    // Only the upper bytes of 32 bits are written.
    let first = width - size
    if first == 0, !isBigEndian { return unsafe Array(given) }
    let (size, shift) = (size, UInt32(8 * first))
    let raw = UnsafeRawBufferPointer(given)
    return unsafe [UInt8](unsafeUninitializedCapacity: count * size + 4) { bytes, written in
      let target = UnsafeMutableRawBufferPointer(bytes)
      if width == 2 {
        for sample in 0..<count {
          let word = unsafe raw.loadUnaligned(fromByteOffset: 2 * sample, as: UInt16.self)
          unsafe target.storeBytes(of: word.byteSwapped, toByteOffset: 2 * sample, as: UInt16.self)
        }
      } else {
        // Bytes after the sample are overwritten by the next one.
        for sample in 0..<count {
          let word = unsafe raw.loadUnaligned(fromByteOffset: 4 * sample, as: UInt32.self)
          unsafe target.storeBytes(
            of: isBigEndian ? word.byteSwapped : word >> shift, toByteOffset: sample * size, as: UInt32.self)
        }
      }
      written = count * size
    }
  }
}
