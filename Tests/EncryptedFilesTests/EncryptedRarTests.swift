import Bytes
import Foundation
import Fuzzing
import TestSupport
import Testing

/// Encrypted RAR archives, made by `make_encrypted_rar.py`, and mutations of them.
@Suite(.timeLimit(.minutes(2))) struct EncryptedRarReadingTests {
  @Test func mutatedArchivesEndNothing() async throws {
    try await withScratch { scratch in
      let made = try await script("make_encrypted_rar.py", scratch.source, EncryptedReading.password, "4")
      try #require(made.status == 0, "\(made.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: scratch.source).sorted()
      var numbers = SeededNumbers(seed: 42)
      var opened = 0
      for name in names where name != "slow.rar" {
        let whole = Array(try Data(contentsOf: URL(filePath: "\(scratch.source)/\(name)")))
        #expect(EncryptedReading.complaints(about: whole) == [], "\(name)")
        // Of the long one, the headers.
        let bytes = Array(whole.prefix(1500))
        for _ in 0..<100 {
          let mutated = numbers.mutation(of: bytes)
          #expect(EncryptedReading.complaints(about: mutated) == [], "\(name)")
          if (try? EncryptedReading.plain(mutated)) != nil { opened += 1 }
        }
      }
      #expect(opened > 100)
    }
  }
}
