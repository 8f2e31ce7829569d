internal import CAVCodec
internal import Catalogue
public import WorkerKit

/// A file that consists of planes only: luma, and two chroma planes of half the width and height.
///
/// The colours are those of ITU-R BT.601 in the range of television, which programs assume for such files.
public enum PlanarPicture {
  /// Returns the size of a picture's file, in bytes. Returns `nil` if it is too large.
  public static func size(_ width: Int, _ height: Int) -> Int? {
    guard width > 0, height > 0, width <= PixelBlock.limit, height <= PixelBlock.limit / 3 / width else { return nil }
    return width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
  }

  /// Reads the first picture of a file.
  public static func pixels(
    of file: UnsafeRawBufferPointer, width: Int, height: Int
  ) throws(JobFailure) -> PixelBlock {
    let frame = try CodecFrame(width, height, AV_PIX_FMT_YUV420P)
    try unsafe forEachRow(of: frame) { (row, place) throws(JobFailure) in
      guard place + row.count <= file.count else { throw JobFailure(.damaged, "has fewer pixels than recorded") }
      unsafe row.copyMemory(from: UnsafeRawBufferPointer(rebasing: file[place..<place + row.count]))
    }
    return try PixelBlock(frame.converted(to: AV_PIX_FMT_RGB24))
  }

  /// Returns a file of three bands of bytes.
  public static func file(of pixels: PixelBlock) throws(JobFailure) -> [UInt8] {
    let frame = try pixels.frame().converted(to: AV_PIX_FMT_YUV420P)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size(pixels.width, pixels.height) ?? 0)
    try unsafe forEachRow(of: frame) { (row, _) throws(JobFailure) in unsafe bytes.append(contentsOf: row) }
    return bytes
  }

  /// Calls `body` with each row of each plane, and its offset in a file.
  private static func forEachRow(
    of frame: CodecFrame, _ body: (UnsafeMutableRawBufferPointer, Int) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let half = (width: (frame.width + 1) / 2, height: (frame.height + 1) / 2)
    let planes = unsafe [
      (frame.pointer.pointee.data.0, frame.pointer.pointee.linesize.0, frame.width, frame.height),
      (frame.pointer.pointee.data.1, frame.pointer.pointee.linesize.1, half.width, half.height),
      (frame.pointer.pointee.data.2, frame.pointer.pointee.linesize.2, half.width, half.height),
    ]
    var place = 0
    for plane in 0..<3 {
      let (first, step, width, height) = unsafe planes[plane]
      guard let start = unsafe first else { throw JobFailure.noMemory() }
      for y in 0..<height {
        try unsafe body(UnsafeMutableRawBufferPointer(start: start + y * Int(step), count: width), place)
        place += width
      }
    }
  }
}
