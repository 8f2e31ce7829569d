internal import Bytes

/// Reads and changes the orientation of an EXIF block: TIFF 6.0, section 2.
enum EXIF {
  /// Returns the block with its orientation, if any, set to upright.
  static func upright(_ block: [UInt8]) -> [UInt8] {
    var block = block
    guard let place = orientation(in: block) else { return block }
    block[place.offset] = place.isBigEndian ? 0 : 1
    block[place.offset + 1] = place.isBigEndian ? 1 : 0
    return block
  }

  /// Returns whether the block contains an orientation.
  static func hasOrientation(_ block: [UInt8]) -> Bool { orientation(in: block) != nil }

  /// Returns the orientation in a block, 1 to 8. Returns `nil` if there is none.
  static func orientation(of block: [UInt8]) -> Int? {
    guard let place = orientation(in: block), place.offset + 2 <= block.count else { return nil }
    let value = Int(block[place.isBigEndian ? place.offset + 1 : place.offset])
    return (1...8).contains(value) ? value : nil
  }

  /// Returns a block that contains only the orientation of another one. Empty if that has none.
  static func orientationOnly(of block: [UInt8]) -> [UInt8] {
    guard let place = orientation(in: block), place.offset + 2 <= block.count else { return [] }
    let value = block[place.isBigEndian ? place.offset + 1 : place.offset]
    let start: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1]
    return start + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0] + [0, 0, 0, 0]
  }

  /// Returns the offset of the two bytes of the first directory's orientation.
  private static func orientation(in block: [UInt8]) -> (offset: Int, isBigEndian: Bool)? {
    let start = block.starts(with: "Exif\0\0".utf8) ? 6 : 0
    guard block.count >= start + 8 else { return nil }
    let isBigEndian = block[start] == 0x4D
    func word(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= block.count else { return nil }
      let bytes = block[offset..<(offset + count)]
      return isBigEndian ? Int(bigEndianBytes: bytes) : Int(littleEndianBytes: bytes)
    }
    guard let directory = word(start + 4, 4), let entries = word(start + directory, 2) else { return nil }
    for entry in 0..<entries {
      let offset = start + directory + 2 + 12 * entry
      guard let tag = word(offset, 2), word(offset + 8, 4) != nil else { return nil }
      if tag == 0x0112 { return (offset + 8, isBigEndian) }
    }
    return nil
  }
}
