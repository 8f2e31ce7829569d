internal import CJpeg
internal import Glibc

/// Reads and writes JPEG files.
public struct JPEG {
  private let bytes: [UInt8]
  public let width: Int
  public let height: Int
  public let components: Int
  /// The coarseness of the quantisation, comparable with `coarseness(ofQuality:)`.
  public let coarseness: Int
  private let isProgressive: Bool

  /// The maximum number of coefficients of an image that must be in memory as a whole, at two bytes each, to be read or
  /// repacked.
  private static let mostCoefficients = 1 << 27

  /// Returns `nil` if the file is not a supported JPEG.
  public init?(_ bytes: [UInt8]) {
    var head = ffjpeg_head()
    guard unsafe ffjpeg_read_head(bytes, bytes.count, &head) == 0 else { return nil }
    self.bytes = bytes
    width = Int(head.width)
    height = Int(head.height)
    components = Int(head.components)
    coarseness = Int(head.coarseness)
    isProgressive = head.is_progressive != 0
  }

  /// Returns the coarseness that `bytes(of:quality:isSubsampled:)` uses for a quality.
  public static func coarseness(ofQuality quality: Int) -> Int { Int(ffjpeg_coarseness(Int32(quality))) }

  private var isHuge: Bool { width * height * components > Self.mostCoefficients }

  /// Returns the pixels, at least `width` by `height`. They are at a half, a quarter or an eighth of the image's size
  /// if that is enough. CMYK is returned as stored. Returns `nil` on any error in the file, and for very large files.
  public func samples(atLeast width: Int, _ height: Int) -> Samples? {
    if isProgressive, isHuge { return nil }
    var denominator = 1
    while denominator < 8, self.width / (denominator * 2) >= width, self.height / (denominator * 2) >= height {
      denominator *= 2
    }
    let (w, h) = ((self.width + denominator - 1) / denominator, (self.height + denominator - 1) / denominator)
    guard let count = Samples.count(w, h, components) else { return nil }
    var status: Int32 = -1
    let pixels = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
      status = unsafe ffjpeg_decode(bytes, bytes.count, Int32(denominator), target.baseAddress, count)
      filled = status == 0 ? count : 0
    }
    return status == 0 ? Samples(width: w, height: h, bands: components, bytes: pixels) : nil
  }

  /// Returns the same image with a more compact lossless encoding. Returns `nil` if that fails.
  public func repacked() -> [UInt8]? {
    if isHuge { return nil }
    return unsafe Self.made { unsafe ffjpeg_repack(bytes, bytes.count, $0, $1) }
  }

  /// - Parameter isSubsampled: whether colours are stored at half the resolution.
  public static func bytes(of samples: Samples, quality: Int, isSubsampled: Bool) -> [UInt8]? {
    guard [1, 3, 4].contains(samples.bands), max(samples.width, samples.height) <= 65500 else { return nil }
    return unsafe made {
      unsafe ffjpeg_encode(
        samples.bytes, UInt32(samples.width), UInt32(samples.height), Int32(samples.bands), Int32(quality),
        isSubsampled ? 1 : 0, $0, $1)
    }
  }

  private static func made(
    _ make: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>) -> Int32
  ) -> [UInt8]? {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard unsafe make(&bytes, &count) == 0 else { return nil }
    defer { unsafe free(bytes) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}
