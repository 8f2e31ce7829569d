internal import CFFmpeg
internal import WorkerKit

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

  /// Calls `body` with the bytes of packed samples. This machine is little-endian. `room` is memory that later calls use
  /// again.
  func withBytes(
    of frame: MediaFrame, channels: Int, isBigEndian: Bool, _ room: inout [UInt8],
    _ body: (RawSpan) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    guard let plane = unsafe frame.pointer.pointee.extended_data?.pointee else { return }
    let width = format == AV_SAMPLE_FMT_S16 ? 2 : 4
    let count = frame.sampleCount * channels
    let samples = unsafe UnsafeRawBufferPointer(start: plane, count: count * width)
    if width == size, !isBigEndian { return try unsafe body(samples.bytes) }
    // The last word exceeds its sample.
    let needed = count * size + 4
    if room.count < needed { room = [UInt8](repeating: 0, count: needed) }
    unsafe room.withUnsafeMutableBytes { room in
      switch (width, size) {
      case (2, _): unsafe Self.swap(samples, into: room)
      case (_, 3): unsafe Self.pack3(samples, into: room, isBigEndian)
      default: unsafe Self.pack(samples, of: size, into: room, isBigEndian)
      }
    }
    try unsafe body(room.span.extracting(..<(count * size)).bytes)
  }

  private static func swap(_ samples: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    for place in stride(from: 0, to: samples.count, by: 2) {
      let word = unsafe samples.loadUnaligned(fromByteOffset: place, as: UInt16.self)
      unsafe target.storeBytes(of: word.byteSwapped, toByteOffset: place, as: UInt16.self)
    }
  }

  /// Writes the upper `size` bytes of 32 bits. Bytes after a sample are overwritten by the next one.
  private static func pack(
    _ samples: UnsafeRawBufferPointer, of size: Int, into target: UnsafeMutableRawBufferPointer, _ isBigEndian: Bool,
    from first: Int = 0
  ) {
    let shift = UInt32(8 * (4 - size))
    for sample in first..<max(first, samples.count / 4) {
      let word = unsafe samples.loadUnaligned(fromByteOffset: 4 * sample, as: UInt32.self)
      unsafe target.storeBytes(
        of: isBigEndian ? word.byteSwapped : word >> shift, toByteOffset: sample * size, as: UInt32.self)
    }
  }

  /// Writes the upper three bytes of 32 bits, four samples at a time.
  private static func pack3(
    _ samples: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ isBigEndian: Bool
  ) {
    func word(_ sample: Int) -> UInt32 {
      let word = unsafe samples.loadUnaligned(fromByteOffset: 4 * sample, as: UInt32.self)
      return isBigEndian ? word.byteSwapped & 0xff_ffff : word >> 8
    }
    let rest = samples.count / 16 * 4
    for sample in stride(from: 0, to: rest, by: 4) {
      let (first, second, third, fourth) = (word(sample), word(sample + 1), word(sample + 2), word(sample + 3))
      unsafe target.storeBytes(of: first | second << 24, toByteOffset: 3 * sample, as: UInt32.self)
      unsafe target.storeBytes(of: second >> 8 | third << 16, toByteOffset: 3 * sample + 4, as: UInt32.self)
      unsafe target.storeBytes(of: third >> 16 | fourth << 8, toByteOffset: 3 * sample + 8, as: UInt32.self)
    }
    unsafe pack(samples, of: 3, into: target, isBigEndian, from: rest)
  }
}
