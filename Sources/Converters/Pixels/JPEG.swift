internal import CJpeg
internal import Glibc

/// A JPEG file: what its head says, its pixels, and new ones.
public struct JPEG {
  private let bytes: [UInt8]
  public let width: Int
  public let height: Int
  public let components: Int
  /// How much its quantisation takes away: comparable with `coarseness(ofQuality:)`.
  public let coarseness: Int
  private let isProgressive: Bool

  /// Of what has to be in memory as a whole to be read or packed again: twice as many bytes.
  private static let mostCoefficients = 1 << 27

  /// nil when it is none that can be read here.
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

  public static func coarseness(ofQuality quality: Int) -> Int { Int(ffjpeg_coarseness(Int32(quality))) }

  private var isHuge: Bool { width * height * components > Self.mostCoefficients }

  /// The pixels: no fewer than `width` by `height`, but at a half, a quarter or an eighth of the image's size where that is
  /// enough. CMYK as it is stored. nil when anything is wrong with the file, and for very large ones.
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

  /// The same image, coded better; nil where that cannot be.
  public func repacked() -> [UInt8]? {
    if isHuge { return nil }
    return unsafe Self.made { unsafe ffjpeg_repack(bytes, bytes.count, $0, $1) }
  }

  /// - Parameter isSubsampled: colours at half the resolution.
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
