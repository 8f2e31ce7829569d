import TestSupport
import Testing

@testable import Fuzzing

/// TAR archives and compressed files with a few bytes changed: whatever the result, there is no crash, and reads are
/// consistent.
@Suite(.timeLimit(.minutes(10))) struct TarMutationTests {
  @Test(arguments: [FuzzTarget.tar.name, FuzzTarget.compressed.name], [0, 1])
  func mutatedTarFilesNeverCrash(name: String, batch: Int) throws {
    let target = try #require(FuzzTarget.named(name))
    let complaints = target.complaints(ofMutations: 500, seed: UInt64(batch))
    #expect(complaints.isEmpty, "batch \(batch): \(complaints)")
  }

  @Test func validTarFilesAreReadWithoutComplaint() {
    for target in [FuzzTarget.tar, .compressed] {
      for (number, seed) in target.seeds().enumerated() {
        let complaints = target.complaints(seed)
        #expect(complaints.isEmpty, "\(target.name) \(number): \(complaints)")
      }
    }
  }
}
