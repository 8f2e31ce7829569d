internal import AllViews
internal import Bytes
internal import Foundation
internal import Index
internal import Mail
internal import TestSupport
internal import Tree

/// A folder generated from a fuzzer's input: archives with extreme numbers, with every extension that has a view,
/// mails, tables, the longest holes that the file system permits, and index rows with arbitrary values.
struct HostileFolder {
  let source: SourceFolder
  /// nil if there is no index.
  private(set) var index: Index?
  private let cache: SourceFolder?
  private(set) var names: [FileName] = []

  /// The extensions of views, and a few others.
  static let extensions: [String] =
    Views.possibleExtensions.map(\.text).sorted()
    + ["csv", "tsv", "tab", "json", "geojson", "ndjson", "jsonl", "jpg", "jpeg", "bin", ""]

  private static let mostFiles = 4

  init(_ choices: inout Choices) throws {
    // Supports holes of any length.
    let base = "/dev/shm"
    let isThere = unsafe access(base, W_OK) == 0
    source = try SourceFolder(in: isThere ? base : nil)
    let hasIndex = choices.below(4) == 1
    cache = hasIndex ? try SourceFolder(in: isThere ? base : nil) : nil
    for number in 0...choices.below(Self.mostFiles) {
      if number > 0, choices.isEmpty { break }
      try addFile(number, &choices)
    }
    guard let cache else { return }
    let index = Index(folder: cache.path)
    self.index = index
    for name in names { try poison(index, name, &choices) }
  }

  private mutating func addFile(_ number: Int, _ choices: inout Choices) throws {
    let kind = choices.below(6)
    let name = FileName("f\(number)" + Self.suffix(kind <= 2 ? "zip" : choices.one(of: Self.extensions)))
    switch kind {
    case 0, 1, 2: try source.write(name, Self.archive(&choices))
    case 3:
      // Shorter ones would be read completely.
      let size = Int64(clamping: max(choices.number(), 1 << 57))
      do { try source.writeSparse(name, size: size, tail: [1]) } catch { try source.write(name, "no hole") }
    default: try source.write(name, choices.bytes(upTo: 2000))
    }
    let when = choices.below(4) == 0 ? choices.signed() : 1_700_000_000
    try? source.setModified(name, Timestamp(seconds: when, nanoseconds: 5))
    names.append(name)
  }

  private static func suffix(_ fileExtension: String) -> String { fileExtension.isEmpty ? "" : "." + fileExtension }

  private static func archive(_ choices: inout Choices) -> ZipFixture {
    var fixture = ZipFixture()
    for number in 0...choices.below(5) {
      let name = (choices.below(3) == 0 ? "d/" : "") + "e\(number)" + suffix(choices.one(of: extensions))
      var entry = ZipFixtureEntry(name, choices.bytes(upTo: choices.below(64)))
      let claims = choices.byte()
      if claims & 1 != 0 { entry.claimedSize = choices.number() }
      if claims & 2 != 0 { entry.claimedCompressedSize = choices.number() }
      if claims & 4 != 0 { entry.claimedOffset = choices.number() }
      if claims & 8 != 0 { entry.method = choices.one(of: [8, 9, 12, 14, 93, 95]) }
      if claims & 16 != 0 { entry.centralExtra = ZipExtra.ntfs(modified: choices.number()) }
      if claims & 32 != 0 { entry.flags = UInt16(choices.byte()) }
      if claims & 64 != 0 { entry = entry.unix(mode: choices.one(of: [0o120777, 0o100000, 0o040755, 0])) }
      if claims & 128 != 0 { entry.hasDataDescriptor = true }
      fixture.entries.append(entry)
    }
    fixture.endsInZip64 = choices.below(2) == 1
    if choices.below(8) == 1 { fixture.claimedDirectorySize = UInt32(truncatingIfNeeded: choices.number()) }
    if choices.below(8) == 1 { fixture.claimedDirectoryOffset = UInt32(truncatingIfNeeded: choices.number()) }
    return fixture
  }

  // MARK: The index

  /// Stores malicious records of every kind, under the file's key in the index.
  private func poison(_ index: Index, _ name: FileName, _ choices: inout Choices) throws {
    let status = try source.status(name)
    let size = UInt64(bitPattern: status.size)
    let (seconds, nanoseconds) = (UInt64(bitPattern: status.modified.seconds), UInt64(status.modified.nanoseconds))
    let device = try source.device()
    let state = Self.bytes([size, seconds, nanoseconds])
    let file = Self.bytes([device, status.inode])
    let mailbox = IndexKind(number: 2, version: 2)
    let rows = (0..<choices.below(6)).map { _ in Self.row(&choices) }
    var directory: [UInt64] = [choices.number(), UInt64(choices.below(2)), UInt64(rows.count)]
    directory += [choices.number(), UInt64(choices.byte())]
    directory += (0..<choices.below(3)).map { _ in choices.number() }
    if choices.below(2) == 0, let first = rows.first {
      directory = [size, 1, UInt64(rows.count), size, 0, UInt64(bitPattern: first.separator)]
    }
    let packed = directory.flatMap { word in Self.bytes([word]).reversed() }
    var block: [UInt8] = []
    for row in rows { row.append(to: &block) }
    index.store(
      [
        IndexRecord(key: [0], value: state + packed), IndexRecord(key: [1] + Self.bytes([0]), value: block),
        IndexRecord(key: [2], value: [0x78]),
      ], mailbox, of: file)
    // Groups and facts, attachments: from the rest of the input.
    for (kind, keys) in [(UInt32(4), 3), (5, 1)] {
      let records = (0..<keys).map { key in
        IndexRecord(
          key: kind == 5 ? Self.bytes([0]) : [UInt8(key)] + Self.bytes([0]),
          value: state + (kind == 4 ? Self.bytes([choices.number()]) : []) + choices.bytes(upTo: choices.below(80)))
      }
      index.store(records, IndexKind(number: kind, version: 1), of: file)
    }
    var revision = StableHash()
    for word in [status.inode, size, seconds, nanoseconds] { revision.combine(word) }
    let known = ["", "table html 2", "table text 2", "pages 1", "jpeg ", "merged", "text", "compressed 150dpi.q60"]
    index.store(
      known.map {
        IndexRecord(key: Self.bytes([revision.value]) + Array($0.utf8), value: Self.bytes([choices.number()]))
      }, IndexKind(number: 3, version: 1), of: Array("conversions".utf8))
  }

  private static func row(_ choices: inout Choices) -> MessageRow {
    let separator = choices.below(2) == 0 ? Int64(choices.byte()) : choices.signed()
    let start = choices.below(2) == 0 ? separator &+ 10 : choices.signed()
    var row = MessageRow(separator: separator, start: start, end: choices.signed())
    if choices.below(2) == 0 { row.date = choices.signed() }
    if choices.below(4) == 0 { row.zone = Int(choices.signed()) }
    row.subject = "s"
    return row
  }

  private static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
  }
}
