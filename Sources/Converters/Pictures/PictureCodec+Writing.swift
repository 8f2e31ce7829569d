internal import CAVCodec
public import WorkerKit

extension PictureCodec {
  /// Returns a file of these pixels. Information that the format cannot store is left out.
  public func file(of pixels: PixelBlock) throws(JobFailure) -> [UInt8] {
    var frame = try pixels.frame()
    let stored = stored(pixels.layout)
    if frame.format != stored { frame = try frame.converted(to: stored) }
    let context = try CodecContext(writing: self, frame)
    return try context.packet(of: frame)
  }
}
