import Testing

@testable import Fuzzing

/// Cue sheets with a few bytes changed, from fixed seeds.
@Suite struct CueMutationTests {
  @Test(arguments: [0, 1]) func tracksOfMutatedCueSheetsDoNotOverlap(batch: UInt64) {
    let complaints = FuzzTarget.cue.complaints(ofMutations: 200, seed: batch)
    #expect(complaints.isEmpty, "batch \(batch): \(complaints)")
  }
}
