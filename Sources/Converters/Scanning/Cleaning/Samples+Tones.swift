internal import Pixels

extension Samples {
  /// The number of pixels with each luminance, among every fourth pixel of every fourth row.
  var histogram: [Int] {
    var counts = [Int](repeating: 0, count: 256)
    for y in stride(from: 0, to: height, by: 4) {
      for x in stride(from: 0, to: width, by: 4) {
        let at = (y * width + x) * bands
        let level =
          bands < 3 ? Int(bytes[at]) : (Int(bytes[at]) * 77 + Int(bytes[at + 1]) * 151 + Int(bytes[at + 2]) * 28) >> 8
        counts[level] += 1
      }
    }
    return counts
  }

  /// Returns the image with each byte replaced by its entry in a table of 256.
  func toned(_ table: [UInt8]) -> Samples {
    unsafe mapped { source, target in
      unsafe table.withUnsafeBufferPointer { table in
        for index in 0..<source.count { unsafe target[index] = table[Int(source[index])] }
      }
    }
  }

  /// The image with stronger colours. Unchanged if it is not RGB.
  var saturated: Samples {
    if bands != 3 { return self }
    return unsafe mapped { source, target in
      for at in stride(from: 0, to: source.count, by: 3) {
        let (red, green, blue) = unsafe (Int(source[at]), Int(source[at + 1]), Int(source[at + 2]))
        let gray = (red * 77 + green * 151 + blue * 28) >> 8
        for (offset, level) in [red, green, blue].enumerated() {
          unsafe target[at + offset] = UInt8(min(255, max(0, gray + (level - gray) * 3 / 2)))
        }
      }
    }
  }

  /// The image with smoothed outlines, by a 3 × 3 binomial filter. The outermost pixels stay. Unchanged if it has more
  /// than one band.
  var smoothed: Samples {
    if bands != 1 || width < 3 || height < 3 { return self }
    let width = width
    return unsafe mapped { source, target in
      for index in 0..<source.count { unsafe target[index] = source[index] }
      for y in 1..<(height - 1) {
        for at in (y &* width &+ 1)..<(y &* width &+ width &- 1) {
          let above =
            unsafe UInt16(source[at &- width &- 1]) &+ 2 &* UInt16(source[at &- width])
            &+ UInt16(source[at &- width &+ 1])
          let here = unsafe UInt16(source[at &- 1]) &+ 2 &* UInt16(source[at]) &+ UInt16(source[at &+ 1])
          let below =
            unsafe UInt16(source[at &+ width &- 1]) &+ 2 &* UInt16(source[at &+ width])
            &+ UInt16(source[at &+ width &+ 1])
          unsafe target[at] = UInt8(truncatingIfNeeded: (above &+ 2 &* here &+ below &+ 8) >> 4)
        }
      }
    }
  }

  private func mapped(
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Void
  ) -> Samples {
    let made = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, filled in
      unsafe bytes.withUnsafeBufferPointer { unsafe body($0, target) }
      filled = bytes.count
    }
    return Samples(width: width, height: height, bands: bands, bytes: made) ?? self
  }
}

extension Bilevel {
  /// The image with a byte per pixel, 0 for ink and 255 for paper.
  var samples: Samples? {
    let made = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
      for y in 0..<height {
        for x in 0..<width {
          let isPaper = bytes[y * rowSize + x >> 3] & (0x80 >> UInt8(x & 7)) != 0
          unsafe target[y * width + x] = isPaper ? 255 : 0
        }
      }
      filled = width * height
    }
    return Samples(width: width, height: height, bands: 1, bytes: made)
  }
}
