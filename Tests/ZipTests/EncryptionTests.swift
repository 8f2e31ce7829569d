import Bytes
import Codecs
import Entries
import Foundation
import TestSupport
import Testing
import Zip

@Suite(.enabled("needs python3 and 7z") { !MadeArchive.locked.isEmpty })
struct EncryptionTests {
  private func archive(_ made: MadeArchive, passwords: [String], bytes: [UInt8]? = nil) throws -> ZipArchive {
    var options = ZipOptions()
    options.passwords = Passwords(passwords.map { Array($0.utf8) })
    return try ZipArchive(
      ByteArraySource(bytes ?? made.bytes), modified: ZipArchive.testTime, cache: BlockCache(capacity: 4 << 20),
      options: options)
  }

  @Test(arguments: MadeArchive.locked) func entryIsLockedWithoutPassword(_ made: MadeArchive) throws {
    let archive = try archive(made, passwords: [])
    let fault = #expect(throws: Fault.self) { _ = try archive.content(of: #require(archive.find("small"))) }
    #expect(fault?.kind == .locked && fault?.reason.contains("password_file=") == true)
    // Sizes are known without a password.
    #expect(Int(archive.node(try #require(archive.find("long"))).size) == MadeArchive.contents["long"]?.count)
  }

  @Test(arguments: MadeArchive.locked) func wrongPasswordsAreRefused(_ made: MadeArchive) throws {
    let archive = try archive(made, passwords: ["Secret", "secret ", "x", "sécret"])
    for name in ["long", "small"] {
      let fault = #expect(throws: Fault.self) { _ = try archive.content(of: #require(archive.find(name))) }
      // One in 256 passes ZipCrypto's check; then the CRC does not match.
      #expect(fault?.kind == .locked || fault?.kind == .damaged)
    }
  }

  @Test(arguments: MadeArchive.locked) func correctPasswordIsFoundAmongMany(_ made: MadeArchive) throws {
    // Of six hundred wrong ones, two or three pass ZipCrypto's check.
    let count = made.testDescription.hasPrefix("AES") ? 5 : 600
    let archive = try archive(made, passwords: (0..<count).map { "wrong \($0)" } + ["secret"])
    let content = try archive.content(of: #require(archive.find("small")))
    #expect(areSame(content, try #require(MadeArchive.contents["small"])[...]))
  }

  @Test(arguments: MadeArchive.locked) func encryptedEntryHasNoCacheIdentity(_ made: MadeArchive) throws {
    let archive = try archive(made, passwords: ["secret"])
    #expect(try archive.open(#require(archive.find("long")), .blocking).identity == nil)
  }

  @Test(arguments: MadeArchive.locked.filter { $0.testDescription.hasPrefix("AES") })
  func wrongAuthenticationCodeIsReportedAsDamage(_ made: MadeArchive) throws {
    var bytes = made.bytes
    // The last byte before the second local header belongs to the first entry's authentication code.
    let second = try #require(bytes.indices.dropFirst(100).first { bytes[$0...].starts(with: [0x50, 0x4b, 3, 4]) })
    bytes[second - 1] ^= 1
    let archive = try archive(made, passwords: ["secret"], bytes: bytes)
    let faults = ["long", "small", "empty"].filter { name in
      do { _ = try archive.content(of: #require(archive.find(name))) } catch {
        return (error as? Fault)?.kind == .damaged
      }
      return false
    }
    #expect(faults.count <= 1)
    // Without data there is nothing to authenticate.
    if String(decoding: bytes[30...].prefix(5), as: UTF8.self) != "empty" { #expect(faults.count == 1) }
  }

  @Test func strongEncryptionIsUnsupported() throws {
    let entry = ZipFixtureEntry("a", "content").with { $0.flags = 0x41 }
    let archive = try ZipArchive(ZipFixture(entry))
    let fault = #expect(throws: Fault.self) { _ = try archive.content(of: 1) }
    #expect(fault?.kind == .unsupported)
  }

  /// Of strong encryption, no password is asked for.
  @Test func directoryTellsWhichFilesAPasswordOpens() throws {
    func entry(_ name: String, flags: UInt16) -> ZipFixtureEntry {
      ZipFixtureEntry(name, name).with { $0.flags = flags }
    }
    let archive = try ZipArchive(
      ZipFixture(
        entry("plain", flags: 0), entry("d/first", flags: 1), entry("strong", flags: 0x41), entry("second", flags: 1)))
    for (count, names) in [(0, []), (1, ["first"]), (4, ["first", "second"])] {
      #expect(archive.encrypted(atMost: count).map { String(decoding: archive.name(of: $0), as: UTF8.self) } == names)
    }
  }

  @Test(
    .enabled("needs the corpus beside the project") { sharedCorpus != nil },
    arguments: [
      ("encrypt-aes128.zip", "foofoofoo"), ("encrypt-aes192.zip", "foofoofoo"), ("encrypt-aes256.zip", "foofoofoo"),
      ("encrypt-1234.zip", "1234"),
    ]) func encryptedCorpusIsRead(_ name: String, _ password: String) throws
  {
    let folder = try #require(sharedCorpus).appendingPathComponent("zip/libzip/")
    let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(name)))
    var options = ZipOptions()
    options.passwords = Passwords([Array(password.utf8)])
    let archive = try ZipArchive(
      ByteArraySource(bytes), modified: ZipArchive.testTime, cache: BlockCache(capacity: 1 << 20), options: options)
    let node = try #require(archive.children(of: ZipArchive.root).first)
    #expect(try archive.content(of: node).count == Int(archive.node(node).size))
  }
}
