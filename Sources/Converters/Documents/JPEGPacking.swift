internal import Pixels
internal import WorkerKit

/// Packs JPEGs once more, byte for byte as they are: those of paper with letters have long runs of the same bits.
struct JPEGPacking {
  private let deflate: Deflate

  /// What is saved at least, or readers would have a second filter for nothing: 1 / 100.
  private static let leastShare = 100
  /// A larger one, in bytes, would have to be in memory twice.
  private static let largest = 32 << 20
  /// The bytes that are tried, in some places of one that is larger: cameras' photos cannot be packed.
  private static let sample = 1 << 16
  private static let samples = 3

  init() throws(JobFailure) {
    // libdeflate's best takes some hundredths of a second for a page.
    guard let deflate = Deflate(level: 12) else { throw JobFailure.noMemory() }
    self.deflate = deflate
  }

  /// The JPEG in the zlib format; nil if that is hardly smaller.
  func packed(_ jpeg: RawSpan) -> [UInt8]? {
    let size = jpeg.byteCount
    guard size <= Self.largest else { return nil }
    if size > 2 * Self.samples * Self.sample {
      let step = size / (Self.samples + 1)
      let packed = (1...Self.samples).reduce(0) { sum, index in
        sum + deflate.compress(jpeg.extracting((index * step)..<(index * step + Self.sample))).count
      }
      guard Self.isWorthIt(packed, of: Self.samples * Self.sample) else { return nil }
    }
    let packed = deflate.compress(jpeg)
    return Self.isWorthIt(packed.count, of: size) ? packed : nil
  }

  private static func isWorthIt(_ packed: Int, of size: Int) -> Bool { packed <= size - size / leastShare }
}
