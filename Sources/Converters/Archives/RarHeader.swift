internal import WorkerKit

/// What the library does not tell of RAR archives.
enum RarHeader {
  /// Whether an archive of version 4 is solid, by the flags of the header behind its mark.
  static func isSolid(_ input: JobInput) -> Bool {
    let start = 7
    guard input.count >= start + 5 else { return true }
    return unsafe input.bytes[start + 2] != 0x73 || input.bytes[start + 3] & 8 != 0
  }

  /// Whether one of version 5 is: its first header has a check, its size, its type, flags, perhaps a size, and the archive's
  /// flags; all but the first are in seven bits a byte.
  static func isSolid5(_ input: JobInput) -> Bool {
    var place = 12
    func number() -> UInt64? {
      var (value, shift): (UInt64, UInt64) = (0, 0)
      while place < input.count, shift < 63 {
        let byte = unsafe input.bytes[place]
        place += 1
        value |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    guard number() != nil, number() == 1, let flags = number() else { return true }
    if flags & 1 != 0, number() == nil { return true }
    guard let own = number() else { return true }
    return own & 4 != 0
  }
}
