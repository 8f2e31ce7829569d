import Bytes
import Foundation
import PersonalFolders
import TestSupport
import Testing

@testable import Fuzzing

/// Files with folders with a few bytes changed, from fixed seeds.
@Suite struct StoreMutationTests {
  private static func seed(_ messages: String, _ attached: String) async throws -> [UInt8] {
    try await withScratch { scratch in
      let path = scratch.source + "/a.pst"
      try await script("make_pst.py", path, messages, attached)
      return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }
  }

  @Test func mutatedStoresAreReadSafely() async throws {
    let seeds = [try await Self.seed("4", "64"), try await Self.seed("2", "9000")]
    for seed in seeds {
      var reading = StoreReading(size: Int64(seed.count))
      reading.read(seed)
      #expect(reading.messages >= 2 && (reading.attached == 18_000 || reading.messages == 4))
    }
    var numbers = SeededNumbers(seed: 20)
    for round in 0..<600 {
      let mutant = numbers.mutation(of: seeds[round % seeds.count])
      let complaints = FuzzTarget.stores.complaints(mutant)
      #expect(complaints.isEmpty, "round \(round): \(complaints)")
    }
  }
}
