extension Samples {
  /// Returns the image rotated clockwise by a number of quarter turns.
  public func turned(_ quarters: Int) -> Samples {
    let quarters = quarters & 3
    if quarters == 0 { return self }
    let (newWidth, newHeight) = quarters == 2 ? (width, height) : (height, width)
    let turned = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, filled in
      unsafe bytes.withUnsafeBufferPointer { source in
        for y in 0..<newHeight {
          // The source of the row's first pixel, and the distance to that of the next one.
          let (first, step) =
            switch quarters {
            case 1: ((height - 1) * width + y, -width)
            case 2: ((height - 1 - y) * width + width - 1, -1)
            default: (width - 1 - y, width)
            }
          for x in 0..<newWidth {
            for band in 0..<bands {
              unsafe target[(y * newWidth + x) * bands + band] = source[(first + x * step) * bands + band]
            }
          }
        }
      }
      filled = bytes.count
    }
    return Samples(width: newWidth, height: newHeight, bands: bands, bytes: turned) ?? self
  }
}
