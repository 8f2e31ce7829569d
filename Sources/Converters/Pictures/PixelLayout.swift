internal import CAVCodec

/// The layout of pixels in memory: interleaved, rows from the top without gaps, in the machine's byte order.
public struct PixelLayout: Hashable, Sendable {
  public enum Sample: Int, Sendable {
    case byte = 1
    case word = 2
    /// Linear light, 1 for white.
    case float = 4
  }

  /// The number of channels: gray, gray and alpha, three colours, or three colours and alpha.
  public let bands: Int
  public let sample: Sample

  /// - Parameter bands: 1 to 4.
  public init(bands: Int, sample: Sample) {
    self.bands = min(4, max(1, bands))
    self.sample = sample
  }

  /// The size of a pixel, in bytes.
  public var pixel: Int { bands * sample.rawValue }

  /// The corresponding format of libavcodec, where floats are in planes.
  var format: AVPixelFormat {
    switch sample {
    case .byte: [AV_PIX_FMT_GRAY8, AV_PIX_FMT_YA8, AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA][bands - 1]
    case .word: [AV_PIX_FMT_GRAY16LE, AV_PIX_FMT_YA16LE, AV_PIX_FMT_RGB48LE, AV_PIX_FMT_RGBA64LE][bands - 1]
    case .float: [AV_PIX_FMT_GRAYF32LE, AV_PIX_FMT_NONE, AV_PIX_FMT_GBRPF32LE, AV_PIX_FMT_GBRAPF32LE][bands - 1]
    }
  }

  /// Creates the layout that preserves the samples of a format. Returns `nil` for hardware formats.
  init?(keeping format: AVPixelFormat, paletteHasOpacity: Bool) {
    guard let description = unsafe av_pix_fmt_desc_get(format) else { return nil }
    let (flags, components) = unsafe (Int32(description.pointee.flags), Int(description.pointee.nb_components))
    guard flags & AV_PIX_FMT_FLAG_HWACCEL == 0, (1...4).contains(components) else { return nil }
    let depth = unsafe description.pointee.comp.0.depth
    if flags & AV_PIX_FMT_FLAG_PAL != 0 {
      self.init(bands: paletteHasOpacity ? 4 : 3, sample: .byte)
    } else {
      self.init(bands: components, sample: depth > 8 ? .word : .byte)
    }
  }
}
