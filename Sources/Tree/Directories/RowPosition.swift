internal import Bytes

/// A position between two rows of a listing, as a number that the kernel stores.
///
/// The number is derived from the offset of the listed directory, and does not count rows. So another process of the
/// mount finds the same position, even if names before it have come or gone.
struct RowPosition: Equatable {
  /// The cursor's offset before a file.
  let offset: Int64
  /// The number of rows passed of that file and its views.
  let passed: Int
  /// Some bits of the hash of the file's name. 0 if no row was passed.
  let tag: UInt16

  static let start = RowPosition(before: 0)
  /// The number of the position after `.`.
  static let behindDot: UInt64 = 1

  init(before offset: Int64) { self.init(offset: offset, passed: 0, tag: 0) }

  /// Creates the position after `passed` rows of a file whose views follow. `offset` is the one before the file.
  init(before offset: Int64, passed: Int, of name: FileName) {
    self.init(offset: offset, passed: min(passed, Int(Self.passedMask)), tag: Self.tag(of: name))
  }

  private init(offset: Int64, passed: Int, tag: UInt16) {
    (self.offset, self.passed, self.tag) = (offset, passed, tag)
  }

  static func tag(of name: FileName) -> UInt16 {
    var hash = StableHash()
    hash.combine(name.bytes)
    return UInt16(truncatingIfNeeded: hash.value & tagMask)
  }

  // The kernel seeks to numbers of up to 63 bits, and ext4 has offsets of 63 bits. The lowest bits of large offsets,
  // which only names with nearly the same hash share, are left out: a seek may lead to a name shortly before.
  private static let isLarge: UInt64 = 1 << 62
  private static let isInside: UInt64 = 1 << 61
  private static let passedMask: UInt64 = 15
  private static let tagMask: UInt64 = 0xfff
  private static let tagShift: UInt64 = 4
  private static let insideShift: UInt64 = 16
  /// The bits that large offsets lose, without and with passed rows.
  private static let lost: (outside: UInt64, inside: UInt64) = (3, 19)
  private static let limit: (outside: Int64, inside: Int64) = (1 << 60, 1 << 44)

  /// The number. At least 2, which is the position after `..`.
  var number: UInt64 {
    let (bits, isInside) = (UInt64(bitPattern: offset), passed > 0)
    let isLarge = !(0..<(isInside ? Self.limit.inside : Self.limit.outside)).contains(offset)
    let flags = (isLarge ? Self.isLarge : 0) | (isInside ? Self.isInside : 0)
    guard isInside else { return flags | (isLarge ? bits >> Self.lost.outside : bits + 2) }
    let place = isLarge ? bits >> Self.lost.inside : bits
    return flags | place << Self.insideShift | UInt64(tag) << Self.tagShift | UInt64(passed)
  }

  /// Creates the position of a number of at least 2.
  init(number: UInt64) {
    let isLarge = number & Self.isLarge != 0
    let bits = number & (Self.isInside - 1)
    guard number & Self.isInside != 0 else {
      self.init(before: Int64(bitPattern: isLarge ? bits << Self.lost.outside : max(2, bits) - 2))
      return
    }
    let place = bits >> Self.insideShift
    self.init(
      offset: Int64(bitPattern: isLarge ? place << Self.lost.inside : place), passed: Int(bits & Self.passedMask),
      tag: UInt16(truncatingIfNeeded: bits >> Self.tagShift & Self.tagMask))
  }
}
