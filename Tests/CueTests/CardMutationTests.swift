import TestSupport
import Testing

@testable import Fuzzing

/// Calendars and cards with a few bytes changed, from fixed seeds.
@Suite struct CardMutationTests {
  @Test func mutatedCardsAreInTheirFiles() {
    var numbers = SeededNumbers(seed: 21)
    let seeds = FuzzTarget.cards.seeds()
    for round in 0..<600 {
      let complaints = FuzzTarget.cards.complaints(numbers.mutation(of: seeds[round % seeds.count]))
      #expect(complaints.isEmpty, "round \(round): \(complaints)")
    }
  }
}
