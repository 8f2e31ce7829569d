internal import CAVCodec
internal import Catalogue
internal import Glibc
public import WorkerKit

/// Pixels in memory.
public struct PixelBlock: Sendable {
  public let width: Int
  public let height: Int
  public let layout: PixelLayout
  public let bytes: [UInt8]

  /// The maximum size of a picture, in bytes. Several copies have to be in memory at once.
  public static let limit = 1 << 28

  /// Throws for pictures that are too large, and if the size of `bytes` does not match.
  public init(width: Int, height: Int, _ layout: PixelLayout, _ bytes: [UInt8]) throws(JobFailure) {
    let size = try Self.size(width, height, layout)
    guard bytes.count == size else { throw JobFailure(.damaged, "has fewer pixels than recorded") }
    (self.width, self.height, self.layout, self.bytes) = (width, height, layout, bytes)
  }

  /// Returns the size of a picture, in bytes.
  static func size(_ width: Int, _ height: Int, _ layout: PixelLayout) throws(JobFailure) -> Int {
    guard width > 0, height > 0 else { throw JobFailure(.damaged, "has no pixels") }
    guard width <= limit, height <= limit, width <= limit / layout.pixel / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    return width * height * layout.pixel
  }
}

extension PixelBlock {
  /// Copies a frame's pixels.
  init(_ frame: CodecFrame) throws(JobFailure) {
    guard let layout = PixelLayout(keeping: frame.format, paletteHasOpacity: frame.paletteHasOpacity) else {
      throw JobFailure(.unsupported, "has pixels of an unknown kind")
    }
    let size = try PixelBlock.size(frame.width, frame.height, layout)
    let ready = frame.format == layout.format ? frame : try frame.converted(to: layout.format)
    let row = frame.width * layout.pixel
    let (start, step) = unsafe (ready.pointer.pointee.data.0, Int(ready.pointer.pointee.linesize.0))
    guard let start = unsafe start, abs(step) >= row else {
      throw JobFailure(.damaged, "has fewer pixels than recorded")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for y in 0..<frame.height {
      unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: start + y * step, count: row))
    }
    try self.init(width: frame.width, height: frame.height, layout, bytes)
  }

  /// Returns a frame with these pixels.
  func frame() throws(JobFailure) -> CodecFrame {
    guard layout.format != AV_PIX_FMT_NONE else {
      throw JobFailure(.unsupported, "has pixels of a kind that cannot be written in this format")
    }
    let frame = try CodecFrame(width, height, layout.format)
    if layout.sample == .float {
      fillPlanes(of: frame)
      return frame
    }
    let row = width * layout.pixel
    guard let start = unsafe frame.pointer.pointee.data.0 else { throw JobFailure.noMemory() }
    let step = unsafe Int(frame.pointer.pointee.linesize.0)
    unsafe bytes.withUnsafeBytes { source in
      for y in 0..<height {
        let target = unsafe UnsafeMutableRawBufferPointer(start: start + y * step, count: row)
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[y * row..<(y + 1) * row]))
      }
    }
    return frame
  }

  /// Fills the planes of green, blue, red and alpha.
  private func fillPlanes(of frame: CodecFrame) {
    let planes = unsafe [
      frame.pointer.pointee.data.0, frame.pointer.pointee.data.1, frame.pointer.pointee.data.2,
      frame.pointer.pointee.data.3,
    ]
    let steps = unsafe [
      frame.pointer.pointee.linesize.0, frame.pointer.pointee.linesize.1, frame.pointer.pointee.linesize.2,
      frame.pointer.pointee.linesize.3,
    ].map { Int($0) / 4 }
    let order = layout.bands == 1 ? [0] : [1, 2, 0, 3]
    unsafe bytes.withUnsafeBytes { source in
      let floats = unsafe source.bindMemory(to: Float.self)
      for (plane, band) in order.prefix(layout.bands).enumerated() {
        guard let start = unsafe planes[plane] else { continue }
        let target = unsafe UnsafeMutableRawPointer(start).assumingMemoryBound(to: Float.self)
        for y in 0..<height {
          for x in 0..<width {
            unsafe target[y * steps[plane] + x] = floats[(y * width + x) * layout.bands + band]
          }
        }
      }
    }
  }
}
