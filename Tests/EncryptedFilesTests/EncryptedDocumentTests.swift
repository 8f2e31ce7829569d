import Bytes
import Codecs
import Foundation
import Fuzzing
import TestSupport
import Testing

@testable import EncryptedFiles

/// Encrypted documents, made by `make_encrypted_office.py`, and mutations of them.
@Suite(.timeLimit(.minutes(5))) struct EncryptedDocumentTests {
  private func withDocuments(_ body: ([String: [UInt8]]) throws -> Void) async throws {
    try await withScratch { scratch in
      let made = try await script("make_encrypted_office.py", scratch.source, EncryptedReading.password, "200")
      try #require(made.status == 0, "\(made.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: scratch.source)
      try body(
        Dictionary(
          uniqueKeysWithValues: names.map {
            ($0, Array(try Data(contentsOf: URL(filePath: "\(scratch.source)/\($0)"))))
          }))
    }
  }

  @Test func documentsAreDecrypted() async throws {
    try await withDocuments { files in
      let letter = try #require(files["plain.docx"])
      for name in ["agile.docx", "agile1.docx", "upper.docx", "standard.docx", "standard256.docx"] {
        let bytes = try #require(files[name])
        let plain = try EncryptedReading.plain(bytes)
        #expect(plain.identity == nil)
        #expect(try plain.bytes(at: 0, count: Int(plain.size)) == letter, "\(name)")
        #expect(EncryptedReading.complaints(about: bytes) == [], "\(name)")
      }
      let whole = try EncryptedReading.plain(#require(files["whole.odt"]))
      #expect(try whole.bytes(at: 0, count: Int(whole.size)) == files["plain.odt"])
      for name in ["old.odt", "new.odt", "whole.odt", "short.docx"] {
        let bytes = try #require(files[name])
        let plain = try EncryptedReading.plain(bytes)
        #expect(try plain.bytes(at: 0, count: 4) == [0x50, 0x4b, 3, 4])
        #expect(try plain.bytes(at: 0, count: Int(plain.size)) != bytes, "\(name)")
        #expect(EncryptedReading.complaints(about: bytes) == [], "\(name)")
      }
    }
  }

  @Test func otherFilesAreLeftAlone() async throws {
    try await withDocuments { files in
      for name in ["plain.docx", "plain.odt"] {
        let bytes = ByteArraySource(try #require(files[name]))
        let decryption = FileDecryption(Passwords(), BlockCache(capacity: 1 << 20))
        #expect(try decryption.plain(bytes, of: 1, .blocking) === bytes)
        // It is known by now.
        #expect(try decryption.plain(bytes, of: 1, .immediate) === bytes)
      }
      #expect { try EncryptedReading.plain(#require(files["changed.docx"])) } throws: {
        ($0 as? Fault)?.kind == .damaged
      }
      for name in ["other.docx", "rc4.docx", "slow.docx", "greedy.odt"] {
        #expect { try EncryptedReading.plain(#require(files[name])) } throws: { ($0 as? Fault)?.kind == .locked }
      }
    }
  }

  @Test func mutatedDocumentsEndNothing() async throws {
    try await withDocuments { files in
      var numbers = SeededNumbers(seed: 41)
      var opened = 0
      for (name, bytes) in files.sorted(by: { $0.key < $1.key }) where name != "slow.docx" {
        // Each key of Argon2 takes 64 MiB.
        for _ in 0..<(name == "whole.odt" ? 5 : TestExtent.isFull ? 600 : 25) {
          // Most bytes are encrypted: headers are at the start and at the end.
          var mutated = numbers.mutation(of: bytes)
          if mutated.count > 1536 { mutated[numbers.below(1536)] = UInt8(truncatingIfNeeded: numbers.below(256)) }
          if mutated.count > 1536 { mutated[mutated.count - 1 - numbers.below(1024)] ^= 1 << UInt8(numbers.below(8)) }
          #expect(EncryptedReading.complaints(about: mutated) == [], "\(name)")
          if (try? EncryptedReading.plain(mutated)) != nil { opened += 1 }
        }
      }
      #expect(opened > 40)
    }
  }
}
