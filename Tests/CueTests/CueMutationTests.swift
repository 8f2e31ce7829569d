import TestSupport
import Testing

@testable import Fuzzing

/// Cue sheets with a few bytes changed, from fixed seeds.
@Suite struct CueMutationTests {
  @Test(arguments: [0, 1]) func tracksOfMutatedCueSheetsDoNotOverlap(batch: UInt64) {
    var numbers = SeededNumbers(seed: batch)
    let seeds = FuzzTarget.cue.seeds()
    for round in 0..<200 {
      let complaints = FuzzTarget.cue.complaints(numbers.mutation(of: seeds[round % seeds.count]))
      #expect(complaints.isEmpty, "batch \(batch), round \(round): \(complaints)")
    }
  }
}
