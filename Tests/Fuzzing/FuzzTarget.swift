internal import TestSupport

/// A reader that is run on invalid inputs: by the tests, from fixed seeds, and by `scripts/fuzz` for any time.
public struct FuzzTarget: Sendable {
  /// The name for `scripts/fuzz`.
  public let name: String
  /// Inputs to start from, in addition to the corpus.
  public let seeds: @Sendable () -> [[UInt8]]
  /// Reads an input in every way, and returns a sentence for each violated invariant.
  ///
  /// Time and memory are proportional to the input's size, within a limit. Crashes are detected as such.
  public let complaints: @Sendable ([UInt8]) -> [String]

  /// Reads mutations of the seeds, one after the other, and returns the complaints, each with the number of its round.
  public func complaints(ofMutations count: Int, seed: UInt64) -> [String] {
    var numbers = SeededNumbers(seed: seed)
    let seeds = seeds()
    return (0..<count).flatMap { round in
      complaints(numbers.mutation(of: seeds[round % seeds.count])).map { "round \(round): \($0)" }
    }
  }

  /// All targets; a new reader's must be added here.
  public static let all: [FuzzTarget] = [
    .zip, .tar, .compressed, .mail, .tnef, .tree, .tables, .json, .html, .rtf, .queries, .names, .jobs, .jbig2,
    .cue, .stores, .cards, .encrypted, .answers,
  ]

  public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
