internal import Catalogue
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
