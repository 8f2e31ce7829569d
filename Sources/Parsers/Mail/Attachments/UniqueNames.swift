public import Bytes
internal import Text

/// Makes names unique: a duplicate gets ` (1)` before the extension.
public struct UniqueNames: Sendable {
  /// The hashes of the names in use. On a collision a name gets a number unnecessarily.
  private var taken: Set<UInt64> = []
  /// The next number to try, by numbered stem, so that many files of one name take no longer.
  private var numbers: [UInt64: Int] = [:]

  public init() {}

  /// Returns `name`, or the first of `name (1)`, `name (2)`, … that has not been used yet. At most NAME_MAX bytes if
  /// `name` has no more.
  public mutating func unique(_ name: ArraySlice<UInt8>) -> FileName {
    if taken.insert(Self.hash(name)).inserted { return FileName(name) }
    // Names that differ only where numbered ones are cut share their numbers.
    let key = Self.hash(SafeName.numbered(name, 999_999)[...])
    var number = numbers[key] ?? 1
    while true {
      let candidate = SafeName.numbered(name, number)
      number += 1
      if taken.insert(Self.hash(candidate[...])).inserted {
        numbers[key] = number
        return FileName(candidate)
      }
    }
  }

  private static func hash(_ name: ArraySlice<UInt8>) -> UInt64 { MessageRow.hash(ofID: name) }
}
