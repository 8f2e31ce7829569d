internal import Pixels
internal import WorkerKit

/// Compresses JPEGs losslessly with Deflate. JPEGs of printed text have long runs of equal bits.
struct JPEGPacking {
  private let deflate: Deflate

  /// The reciprocal of the minimum saving, 1 / 100. A smaller saving does not justify a second filter.
  private static let leastShare = 100
  /// The maximum size of a JPEG, in bytes. A larger one would have to be in memory twice.
  private static let largest = 32 << 20
  /// The size of a sample, in bytes. In a larger JPEG, samples are compressed first, because camera photos cannot be
  /// packed.
  private static let sample = 1 << 16
  private static let samples = 3

  init() throws(JobFailure) {
    // libdeflate's highest level takes some hundredths of a second for a page.
    guard let deflate = Deflate(level: 12) else { throw JobFailure.noMemory() }
    self.deflate = deflate
  }

  /// Returns the JPEG in the zlib format. Returns `nil` if that is hardly smaller.
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
