extension Samples {
  /// The image turned clockwise by so many quarters.
  public func turned(_ quarters: Int) -> Samples {
    let quarters = quarters & 3
    if quarters == 0 { return self }
    let (newWidth, newHeight) = quarters == 2 ? (width, height) : (height, width)
    let turned = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, filled in
      unsafe bytes.withUnsafeBufferPointer { source in
        for y in 0..<newHeight {
          // Where the row's first pixel comes from, and how far it is to the next one's.
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
