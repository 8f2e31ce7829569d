internal import Bytes
internal import Catalogue
internal import Pictures
internal import WorkerKit

/// Netpbm's map of floats, pfm(5): a header of three lines, then rows from the bottom up. 1 corresponds to the largest
/// number of other formats.
struct FloatMap: ImageEncoder {
  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    let pixels = try image.pixels()
    let isWide = pixels.layout.sample == .word
    let count = pixels.width * pixels.layout.bands
    // The negative sign of the last number means little-endian.
    var file = Array("\(pixels.layout.bands == 1 ? "Pf" : "PF")\n\(pixels.width) \(pixels.height)\n-1.0\n".utf8)
    file.reserveCapacity(file.count + 4 * count * pixels.height)
    for y in (0..<pixels.height).reversed() {
      for place in y * count..<(y + 1) * count {
        let value =
          isWide
          ? Float(Int(pixels.bytes[2 * place]) | Int(pixels.bytes[2 * place + 1]) << 8) / 65535
          : Float(pixels.bytes[place]) / 255
        let bits = value.bitPattern
        for shift in stride(from: UInt32(0), to: 32, by: 8) { file.append(UInt8(truncatingIfNeeded: bits >> shift)) }
      }
    }
    return file
  }

  /// Returns the pixels of a file as 16-bit words. Returns `nil` if it is of another format. Values below black or
  /// above white are clamped.
  static func pixels(of input: JobInput) throws(JobFailure) -> PixelBlock? {
    let head = unsafe Array(input.bytes.prefix(256))
    guard Format.pfm.isSignature(head[...]) else { return nil }
    var words: [Substring] = []
    var start = 0
    // Each word ends with one blank.
    while words.count < 4, start < head.count, let end = head[start...].firstIndex(where: { $0 <= 0x20 }) {
      words.append(Substring(String(decoding: head[start..<end], as: UTF8.self)))
      start = end + 1
    }
    guard words.count == 4, let width = Int(words[1]), let height = Int(words[2]), let scale = Double(words[3]),
      scale != 0, width > 0, height > 0
    else { throw JobFailure(.damaged, "has an invalid header") }
    let layout = PixelLayout(bands: words[0] == "PF" ? 3 : 1, sample: .word)
    guard width <= PixelBlock.limit / layout.pixel / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    let count = width * layout.bands
    guard input.count - start >= 4 * count * height else { throw JobFailure(.damaged, "ends before its last row") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * count * height)
    for y in (0..<height).reversed() {
      for x in 0..<count {
        let bits = unsafe input.bytes.loadUnaligned(fromByteOffset: start + 4 * (y * count + x), as: UInt32.self)
        let value = Float(bitPattern: scale > 0 ? bits.bigEndian : bits.littleEndian)
        // NaN is black.
        let number = value > 0 ? UInt16(min(65535, (value * 65535).rounded())) : 0
        bytes.append(UInt8(truncatingIfNeeded: number))
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
      }
    }
    return try PixelBlock(width: width, height: height, layout, bytes)
  }
}
