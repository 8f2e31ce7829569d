internal import Bytes

/// The installed programs that read the files of a tree. An index remembers which files others may read better.
package struct ReadingPrograms: Sendable {
  /// Identifies the programs. Never 0.
  let identity: Int64
  /// Whether programs that read files are missing, and whether one that recognizes text is wanted and missing.
  let areIncomplete: Bool
  let lackRecognition: Bool

  /// All programs, for a tree without conversions.
  package static let all = ReadingPrograms(named: [], areIncomplete: false)

  package init(named names: [String], areIncomplete: Bool, lackRecognition: Bool = false) {
    var hash = StableHash()
    for name in names.sorted() {
      hash.combine(name.utf8)
      hash.combine(0)
    }
    identity = Int64(bitPattern: hash.value | 1)
    self.areIncomplete = areIncomplete
    self.lackRecognition = lackRecognition
  }
}
