import Bytes
import Codecs
import Foundation
import Fuzzing
import TestSupport
import Testing

/// Encrypted RAR archives, made by `make_encrypted_rar.py`, and mutations of them.
@Suite(.timeLimit(.minutes(5))) struct EncryptedRarReadingTests {
  /// A header of encryption that asks for 2^63 rounds, or more than all files together may take.
  @Test(arguments: [21, 40, 61, 62, 63, 64, 127, 255] as [UInt8]) func roundsAreBounded(_ power: UInt8) throws {
    func header(_ content: [UInt8]) -> [UInt8] {
      let sized = [UInt8(content.count)] + content
      return [UInt8](littleEndian: CRC32.of(sized[...])) + sized
    }
    let salt = [UInt8](repeating: 7, count: 16)
    func record(_ power: UInt8) -> [UInt8] { [0, 0, power] + salt }
    let main: [UInt8] = header([1, 0, 0])
    // A file with a record of encryption, then headers that are encrypted.
    let extra = [36, 1] + record(1) + salt
    let file: [UInt8] = header([2, 1, UInt8(extra.count), 0, 0, 0, 0, 0, 1, 0x61] + extra)
    let archive = Array("Rar!\u{1a}\u{7}\u{1}\0".utf8) + main + file + header([4, 0] + record(power))
    // Its list is not encrypted, so the archive is shown as it is.
    #expect(try EncryptedReading.plain(archive + header([4, 0] + record(power))).size == archive.count + 26)
    let hidden = Array("Rar!\u{1a}\u{7}\u{1}\0".utf8) + header([4, 0] + record(power))
    #expect { try EncryptedReading.plain(hidden) } throws: { ($0 as? Fault)?.kind == .locked }
  }

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
        for _ in 0..<(TestExtent.isFull ? 1000 : 40) {
          let mutated = numbers.mutation(of: bytes)
          #expect(EncryptedReading.complaints(about: mutated) == [], "\(name)")
          if (try? EncryptedReading.plain(mutated)) != nil { opened += 1 }
        }
      }
      #expect(opened > 40)
    }
  }
}
