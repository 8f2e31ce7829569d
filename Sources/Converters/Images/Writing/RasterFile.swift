internal import CVips
internal import Catalogue
internal import Glibc
internal import Pictures
internal import WorkerKit

/// A file of one of the simpler formats that libvips does not write.
struct RasterFile: ImageEncoder {
  enum Kind {
    case codec(PictureCodec)
    case fits
    case planar
  }

  private let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    switch kind {
    // Colours are stored premultiplied by alpha, whose maximum is 1.
    case .codec(.exr) where image.hasAlpha:
      try PictureCodec.exr.file(
        of: image.applying("premultiply").applying("linear", ["a": "1 1 1 \(1.0 / 255)", "b": "0"])
          .applying("cast", ["format": "float"]).pixels())
    case .codec(let codec): try codec.file(of: image.pixels())
    case .fits: try FITSFile.bytes(of: image.pixels())
    case .planar: try PlanarPicture.file(of: image.pixels())
    }
  }
}

extension VipsPicture {
  /// Creates a picture with a copy of the pixels.
  convenience init(_ pixels: PixelBlock) throws(JobFailure) {
    let isWide = pixels.layout.sample == .word
    try unsafe self.init(
      copying: pixels.bytes.span.bytes, width: pixels.width, height: pixels.height, bands: pixels.layout.bands,
      format: isWide ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR)
    guard isWide else { return }
    unsafe pointer.pointee.Type =
      pixels.layout.bands < 3 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16
  }

  /// Returns all pixels: bytes, 16-bit words, or floats of linear light.
  func pixels() throws(JobFailure) -> PixelBlock {
    let layout = PixelLayout(bands: bands, sample: isByte ? .byte : isFloat ? .float : .word)
    guard width * height <= PixelBlock.limit / layout.pixel else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for this format")
    }
    var count = 0
    guard let memory = unsafe vips_image_write_to_memory(pointer, &count) else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    defer { unsafe g_free(memory) }
    return try unsafe PixelBlock(
      width: width, height: height, layout, Array(UnsafeRawBufferPointer(start: memory, count: count)))
  }
}
