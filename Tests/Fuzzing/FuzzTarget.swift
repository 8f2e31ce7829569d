/// A reader that is fed with what nobody would write: by the seeded loops of the tests, and by `scripts/fuzz` for as long as
/// one likes.
public struct FuzzTarget: Sendable {
  /// As `scripts/fuzz` is told.
  public let name: String
  /// Inputs to start from, beside what the corpus has.
  public let seeds: @Sendable () -> [[UInt8]]
  /// Reads an input in every way there is, and gives what must not be so whatever the input: a sentence each.
  ///
  /// Takes time and memory in proportion to the input's size, within a limit. What crashes is found by crashing.
  public let complaints: @Sendable ([UInt8]) -> [String]

  /// Each target there is; a new reader's goes here.
  public static let all: [FuzzTarget] = [
    .zip, .mail, .tnef, .tree, .tables, .json, .html, .rtf, .queries, .names, .jobs,
  ]

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
