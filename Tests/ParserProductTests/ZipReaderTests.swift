import Foundation
import MailReading
import Testing
import ZipReading

/// The product for ZIP archives, as its tutorial uses it, beside Python's `zipfile`.
struct ZipReaderTests {
  @Test func listsMembers() throws {
    try MadeFiles.with { made in
      var lines: [String] = []
      try ReadAZip.list(made.archive) { lines.append($0) }
      #expect(lines == made.members.filter { !$0.isFolder }.map { "\($0.bytes.count) \($0.path)" })
      let zip = try ZipReader(at: made.archive)
      #expect(zip.damage == nil)
      // A folder that is only implied is there, too.
      #expect(zip.members.filter { $0.kind == .folder }.map(\.path).sorted() == ["Grüße", "letters"])
      for member in zip.members { #expect(zip.member(at: member.path)?.path == member.path) }
      #expect(zip.member(at: "letters/june.txt") == nil && zip.member(at: "") == nil)
    }
  }

  @Test func readsMembers() throws {
    try MadeFiles.with { made in
      let zip = try ZipReader(at: made.archive)
      var lines: [String] = []
      try ReadAZip.read(zip) { lines.append($0) }
      #expect(lines == ["Dear Ann,\n"])
      for expected in made.members where !expected.isFolder {
        let member = try #require(zip.member(at: expected.path))
        #expect(member.size == Int64(expected.bytes.count))
        #expect(try member.bytes() == expected.bytes)
        var copied: [UInt8] = []
        try ReadAZip.copy(member) { copied += $0 }
        #expect(copied == expected.bytes)
        let content = try member.content()
        for range in [Int64(0)..<1, 5..<300_000, 699_990..<700_010, 0..<(1 << 40), (1 << 41)..<(1 << 42)] {
          let wanted = range.clamped(to: 0..<content.size)
          #expect(
            try content.bytes(in: range) == Array(expected.bytes[Int(wanted.lowerBound)..<Int(wanted.upperBound)]))
        }
      }
    }
  }

  @Test func zipReaderReportsErrorCodes() throws {
    try MadeFiles.with { made in
      #expect(code { try ZipReader(at: made.mailbox) } == .damaged)
      #expect(code { try ZipReader(at: made.folder) } == .unsupported)
      #expect(code { try ZipReader(at: "\(made.folder)/none") } == .system)
      #expect(code { try ZipReader(at: made.archive, nameCharset: "no such") } == .unsupported)
      let zip = try ZipReader(at: made.archive)
      let (folder, big) = try (#require(zip.member(at: "letters")), #require(zip.member(at: "big.bin")))
      #expect(code { try folder.content() } == .unsupported)
      #expect(code { try big.bytes(limit: 1000) } == .tooLarge)
      let broken = try #require(try ZipReader(at: "\(made.folder)/broken.zip").member(at: "stored.bin"))
      #expect(code { try broken.bytes() } == .damaged)
      #expect(code { try ReadAZip.copy(broken) { _ in } } == .damaged)
    }
  }

  @Test func refusesAbsurdClaims() throws {
    // A member of zeros, whose claim of a terabyte is beyond what Deflate can give.
    try MadeFiles.with { made in
      var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: made.archive)))
      let name = Array("big.bin".utf8)
      let entry = try #require(bytes.indices.last { bytes[$0...].starts(with: name) })
      bytes.replaceSubrange(entry - 22..<entry - 18, with: [0xff, 0xff, 0xff, 0xef])
      let member = try #require(try ZipReader(Content(bytes)).member(at: "big.bin"))
      #expect(member.size > 4_000_000_000)
      let error = #expect(throws: ReadingError.self) { try member.content() }
      #expect(error?.code == .tooLarge && error?.reason.contains("-o ") == false)
    }
  }

  @Test func passwordsUnlockMembers() throws {
    try MadeFiles.with { made in
      var lines: [String] = []
      for password in ["secret", "other"] {
        let path = "\(made.folder)/\(password).zip"
        // The format's check lets one wrong password in 256 pass: another archive has another check.
        var codes: [ReadingError.Code?] = []
        for _ in 0..<5 where !codes.contains(.locked) {
          try? FileManager.default.removeItem(atPath: path)
          let zip = try Process.run(
            URL(fileURLWithPath: "/usr/bin/zip"), arguments: ["-q", "-j", "-P", password, path, made.mailbox])
          zip.waitUntilExit()
          let wrong = password == "secret" ? "wrong" : "secret"
          let none = try #require(try ZipReader(at: path, passwords: [wrong]).members.first)
          codes.append(code { try none.bytes() })
        }
        #expect(codes.last == .locked && codes.dropLast().allSatisfy { $0 == .damaged })
        try ReadAZip.unlock(path) { lines.append($0) }
      }
      #expect(lines.count == 1 && lines[0].hasPrefix("No password fits: "))
    }
  }

  @Test func opensAttachedArchives() throws {
    try MadeFiles.with { made in
      var messages = try Mailbox(at: made.mailbox).messages()
      _ = try messages.next()
      var found: [String] = []
      try ReadAZip.find(#require(try messages.next())) { found.append($0) }
      #expect(found == ["x.pdf"])
    }
  }
}

/// The code of the error that `body` throws.
func code(_ body: () throws -> some Any) -> ReadingError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? ReadingError)?.code }
}
