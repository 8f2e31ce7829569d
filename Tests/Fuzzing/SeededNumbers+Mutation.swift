public import TestSupport

extension SeededNumbers {
  /// The bytes with up to five changes: flipped bits, maximum numbers, bytes removed, added or repeated.
  public mutating func mutation(of seed: [UInt8]) -> [UInt8] {
    var bytes = seed
    for _ in 0...below(4) {
      guard !bytes.isEmpty else { break }
      let place = below(bytes.count)
      switch below(7) {
      case 0: bytes[place] ^= 1 << UInt8(below(8))
      case 1: bytes[place] = [0, 0xff, 0x7f, 0x80, 0x2f, 0x2e][below(6)]
      case 2: bytes.insert(contentsOf: self.bytes(1 + below(6)), at: place)
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(6)))
      case 4: bytes.removeLast(below(bytes.count / 8 + 1))
      // A maximum number, at an offset where numbers are most likely.
      case 5: for index in place..<min(bytes.count, place + 1 << below(4)) { bytes[index] = 0xff }
      default:
        let from = below(bytes.count)
        bytes.insert(contentsOf: bytes[from..<min(bytes.count, from + 50)], at: place)
      }
    }
    return bytes
  }
}
