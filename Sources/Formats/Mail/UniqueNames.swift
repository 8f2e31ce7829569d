public import Bytes
internal import Text

/// Gives names that each occur once: a clash gets ` (1)` before the extension.
public struct UniqueNames: Sendable {
  /// By their hash: where two share one, a name gets a number that it could have done without.
  private var taken: Set<UInt64> = []
  /// The number to try next, by the stem that numbers are added to: many files of one name cost no more than others.
  private var numbers: [UInt64: Int] = [:]

  public init() {}

  /// `name`, or the first of `name (1)`, `name (2)`, … that was not given yet. At most NAME_MAX bytes if `name` has no more.
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
