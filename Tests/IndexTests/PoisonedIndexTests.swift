import Foundation
import Glibc
import TestSupport
import Testing

@testable import Index

/// Malicious index files: each costs a rebuild, but neither memory nor time.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PoisonedIndexTests {
  private static let endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT"

  private static let poisons = [
    """
    DROP TABLE record; CREATE VIEW record AS \(endless)
    1 source, 7 kind, x'02' key, 1 version, x checksum, zeroblob(100000) value FROM r
    """,
    "DROP TABLE source; CREATE VIEW source AS \(endless) x id, x'01' identity, 0 usedAt FROM r",
    "CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT count(*) FROM (\(endless) x FROM r); END",
    "CREATE TRIGGER t AFTER INSERT ON source BEGIN DELETE FROM record; END",
    "CREATE VIRTUAL TABLE v USING fts5(a)", "CREATE TABLE more(a)", "CREATE INDEX i ON record(value)",
    "CREATE VIEW harmless AS SELECT 1", "ALTER TABLE source ADD COLUMN more INT",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'NOT  NULL')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1 WHERE name = 'record'",
    "DELETE FROM record; INSERT INTO record SELECT id, 7, x'02', 1, 0, zeroblob(80000000) FROM source",
    "UPDATE record SET checksum = 0", "UPDATE record SET version = -9223372036854775808",
    "UPDATE record SET kind = 9223372036854775807",
    (0..<3000).map { "CREATE TABLE t\($0)(a, b, c)" }.joined(separator: ";"),
  ]

  private func filled(_ scratch: borrowing IndexScratch, _ count: Int = 400) -> Index {
    let index = Index(folder: scratch.path)
    for start in stride(from: 0, to: count, by: 50) {
      let records = (start..<start + 50).map { number -> IndexRecord in
        let low = UInt8(truncatingIfNeeded: number)
        let value = [UInt8](repeating: low & 127, count: 3000)
        return IndexRecord(key: [UInt8(truncatingIfNeeded: number >> 8), low], value: value)
      }
      #expect(index.store(records, Index.kind, of: [1]))
    }
    index.end()
    return Index(folder: scratch.path)
  }

  private func memory() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  /// Reads all records; those returned must have been stored, and in the end records can be stored again.
  private func check(_ scratch: borrowing IndexScratch, _ index: Index) throws {
    let before = try memory()
    for record in index.records(of: [1], Index.kind, from: [0], through: [255, 255]) {
      #expect(record.value == Array(repeating: record.key[1] & 127, count: 3000))
    }
    _ = index.contents()
    var isKept = false
    for _ in 0..<5 where !isKept { isKept = index.keeps([9], [9], [9]) }
    #expect(isKept)
    #expect(try memory() - before < 64 << 10, "in KiB")
    index.end()
  }

  @Test(arguments: poisons.indices) func maliciousIndexIsRebuilt(number: Int) async throws {
    let scratch = try IndexScratch()
    filled(scratch).end()
    // The length of a command line is limited, that of a file is not.
    try Data(Self.poisons[number].utf8).write(to: URL(fileURLWithPath: scratch.path + "/poison"))
    // Newer versions protect the schema from writing.
    let result = try await shell(
      "sqlite3 -cmd '.dbconfig defensive off' \"$1\" <\"$2\"", scratch.file, scratch.path + "/poison", limit: 120)
    try #require(result.status == 0, "\(result.errors)")
    try check(scratch, Index(folder: scratch.path))
  }

  /// All children of a page are its first one.
  @Test func readingCyclicDatabasePagesTerminates() async throws {
    let scratch = try IndexScratch()
    filled(scratch).end()
    let program = """
      import sqlite3, struct, sys
      path = sys.argv[1]
      database = sqlite3.connect(path)
      database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      root, = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'record'").fetchone()
      database.close()
      data = bytearray(open(path, "rb").read())
      start = (root - 1) * 8192
      assert data[start] == 2, data[start]
      count, = struct.unpack_from(">H", data, start + 3)
      cells = [start + struct.unpack_from(">H", data, start + 12 + 2 * i)[0] for i in range(count)]
      first = data[cells[0]:cells[0] + 4]
      for cell in cells + [start + 8]: data[cell:cell + 4] = first
      open(path, "wb").write(data)
      """
    let result = try await run(MountScratch.python, "-c", program, scratch.file)
    try #require(result.status == 0, "\(result.errors)")
    try check(scratch, Index(folder: scratch.path))
  }

  @Test(arguments: ["link", "fifo", "hard link", "writable", "wal link", "folder of a link"])
  func onlyOwnRegularFilesAreUsedAsIndex(_ what: String) async throws {
    let scratch = try IndexScratch()
    filled(scratch).end()
    let elsewhere = try IndexScratch()
    let lines =
      switch what {
      case "link": "mv \"$1/index.sqlite\" \"$2/x\"; ln -s \"$2/x\" \"$1/index.sqlite\""
      case "fifo": "rm \"$1\"/index*; mkfifo \"$1/index.sqlite\""
      case "hard link": "ln \"$1/index.sqlite\" \"$2/x\""
      case "writable": "chmod 666 \"$1/index.sqlite\""
      case "wal link": "rm -f \"$1/index.sqlite-wal\"; ln -s \"$2/x\" \"$1/index.sqlite-wal\""
      default: "mv \"$1\" \"$2/x\"; ln -s \"$2/x\" \"$1\""
      }
    _ = try await shell(lines, scratch.path, elsewhere.path)
    let before = try await shell("cd \"$1\" && find . -type f | xargs -r sha1sum", elsewhere.path).text
    let index = Index(folder: scratch.path)
    #expect(index.value(of: [1], Index.kind, [0, 0]) == nil)
    #expect(index.keeps() == (what != "folder of a link"))
    index.end()
    #expect(try await shell("cd \"$1\" && find . -type f | xargs -r sha1sum", elsewhere.path).text == before)
  }

  @Test(arguments: ["chmod 777", "chmod 770", "chmod 1777"])
  func indexDirectoryWritableByOthersIsNotUsed(_ change: String) async throws { try await check(unusable: change) }

  @Test(.enabled("only root can give a folder away") { MountScratch.isRoot })
  func indexDirectoryOfAnotherUserIsNotUsed() async throws { try await check(unusable: "chown 12345") }

  private func check(unusable change: String) async throws {
    let scratch = try IndexScratch()
    filled(scratch).end()
    _ = try await shell("\(change) \"$1\"", scratch.path)
    let index = Index(folder: scratch.path)
    #expect(index.value(of: [1], Index.kind, [0, 0]) == nil)
    #expect(!index.keeps())
    #expect(try index.texts(of: [1], state: [1], version: 1) == nil)
  }

  /// Records copied from another user's file, or whose key is missing, are ignored.
  @Test func recordsStoredWithAnotherKeyAreIgnored() async throws {
    let scratch = try IndexScratch()
    #expect(filled(scratch).value(of: [1], Index.kind, [0, 5])?.count == 3000)
    #expect(try scratch.rights("/key") == 0o600 && scratch.size("key") == 32)
    for change in ["rm", "truncate -s 31", "chmod 644", "head -c 32 /dev/zero >"] {
      let other = try IndexScratch()
      filled(other).end()
      _ = try await shell("\(change) \"$1/key\"", other.path)
      let index = Index(folder: other.path)
      #expect(index.value(of: [1], Index.kind, [0, 5]) == nil, "\(change)")
      #expect(index.keeps())
      index.end()
      #expect(try other.rights("/key") == 0o600)
      #expect(Index(folder: other.path).has())
    }
  }

  private static let texts = IndexedText(
    subject: Array("word".utf8), sender: [], recipients: [], body: Array("word".utf8), files: [])

  @Test(arguments: [
    """
    DROP TABLE meaning; CREATE VIEW meaning AS \(endless)
    x'01' state, 1 version, x'' proof, x count, 1 isWhole, 1 checksum FROM r
    """,
    "UPDATE meaning SET count = 4000000000", "UPDATE meaning SET isWhole = 0",
    "INSERT INTO meaning SELECT * FROM meaning",
    "CREATE TRIGGER t AFTER INSERT ON meaning BEGIN SELECT count(*) FROM (\(endless) x FROM r); END",
    "DROP TABLE text; CREATE VIEW text AS \(endless) x AS subject FROM r", "swapped",
  ]) func maliciousTextIndexIsRebuilt(_ poison: String) async throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path)
    let (one, other): ([UInt8], [UInt8]) = ([1, 2, 3], [4, 5, 6])
    for source in [one, other] {
      let texts = try #require(try index.texts(of: source, state: [1], version: 1))
      #expect(texts.add([Self.texts], behind: 0, isLast: true))
    }
    let lines =
      poison == "swapped"
      ? "cd \"$1/texts\" && cp 010203.sqlite 040506.sqlite && rm -f 040506.sqlite-*"
      : "sqlite3 \"$1/texts/040506.sqlite\" \"$2\""
    let result = try await shell(lines, scratch.path, poison)
    try #require(result.status == 0, "\(result.errors)")
    if poison != "swapped" { try sumUp(scratch.path + "/texts/040506.sqlite") }
    let again = try #require(try Index(folder: scratch.path).texts(of: other, state: [1], version: 1))
    let isHarmless = poison.hasPrefix("INSERT")
    #expect(again.reach?.count == (isHarmless ? 1 : 0))
    #expect(again.numbers(matching: "word") == (isHarmless ? [0] : []))
    #expect(try #require(try Index(folder: scratch.path).texts(of: one, state: [1], version: 1)).reach?.count == 1)
  }

  /// Recomputes each page's checksum, as an attacker could.
  private func sumUp(_ path: String) throws {
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    for start in stride(from: 0, to: file.count, by: 8192) {
      let page = [UInt8](file[start..<start + 8192])
      let sum = unsafe page.withUnsafeBytes { unsafe PageChecksums.checksum($0, Int64(start)) }
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt64($0))) }
      file.replaceSubrange(start + 8192 - PageChecksums.size..<start + 8192, with: bytes)
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.write(contentsOf: file)
    try handle.close()
  }

  /// The test vectors of the reference implementation: the bytes 0, 1, 2 … of each length, with a key of the same.
  @Test func keyedHashIsSipHash() {
    let key = (0..<16).map { UInt8($0) }
    let vectors: [(Int, UInt64)] = [
      (0, 0x726f_db47_dd0e_0e31), (8, 0x93f5_f579_9a93_2462), (15, 0xa129_ca61_49be_45e5),
    ]
    for (count, expected) in vectors {
      var hash = KeyedHash(key: key)
      hash.combine((0..<count).map { UInt8($0) })
      #expect(hash.value == expected)
      var pieces = KeyedHash(key: key)
      for byte in 0..<count { pieces.combine([UInt8(byte)]) }
      #expect(pieces.value == hash.value)
    }
  }
}
