internal import Pixels
internal import TestSupport

extension FuzzTarget {
  /// Black-and-white images, packed by our own coder, and unpacked by jbig2dec: two bytes for the width, one for how rows
  /// are made of the rest, and the rest.
  public static let jbig2 = FuzzTarget(name: "jbig2") {
    var numbers = SeededNumbers(seed: 2)
    let noise = numbers.bytes(600)
    let sparse = numbers.bytes(900).map { $0 & 0x11 & ($0 >> 1) }
    let widths: [[UInt8]] = [[0, 0], [6, 0], [7, 0], [8, 0], [63, 0], [64, 0], [0, 4], [255, 255]]
    return widths.flatMap { width in
      [[UInt8](repeating: 0, count: 99), [UInt8](repeating: 255, count: 99), noise, sparse].flatMap { bits in
        [0, 1, 2].map { width + [$0] + bits }
      }
    }
  } complaints: { bytes in
    guard let image = Bilevel(drawnBy: bytes) else { return [] }
    let decoded = Bilevel.decoded(jbig2: JBIG2.bytes(of: image))
    let isSame = decoded?.hasPixels(of: image) ?? false
    return isSame ? [] : ["\(image.width) × \(image.height) pixels are others when they are unpacked"]
  }
}

extension Bilevel {
  /// An image of a fuzzer's bytes; nil for too few.
  fileprivate init?(drawnBy bytes: [UInt8]) {
    guard bytes.count > 4 else { return nil }
    // Up to a few thousand pixels in a row.
    let width = 1 + (Int(bytes[0]) | Int(bytes[1]) << 8) % 4096
    let rowSize = (width + 7) / 8
    let rest = Array(bytes[3...])
    switch bytes[2] % 3 {
    // Rows one after the other.
    case 0:
      let height = max(1, rest.count / rowSize)
      let padding = [UInt8](repeating: 0x5A, count: max(0, height * rowSize - rest.count))
      self.init(width: width, height: height, bytes: rest + padding)
    // A row each byte: equal ones are coded as such.
    case 1: self.init(width: width, height: rest.count, bytes: rest.flatMap { [UInt8](repeating: $0, count: rowSize) })
    // Rows that repeat the bytes, shifted.
    default:
      let height = min(rest.count, 64)
      self.init(
        width: width, height: height,
        bytes: (0..<height * rowSize).map { rest[($0 % rowSize + $0 / rowSize * 3) % rest.count] })
    }
  }
}
