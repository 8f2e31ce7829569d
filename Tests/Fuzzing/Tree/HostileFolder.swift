internal import AllViews
internal import Bytes
internal import Catalogue
internal import Codecs
internal import Files
internal import Foundation
internal import Index
internal import Jobs
internal import Mail
internal import MailViews
internal import Tables
internal import TestSupport
internal import Tree
internal import Unpacking

/// A folder generated from a fuzzer's input: archives with extreme numbers, with every extension that has a view,
/// mails, tables, the longest holes that the file system permits, and index rows with arbitrary values.
struct HostileFolder {
  let source: SourceFolder
  /// nil if there is no index.
  private(set) var index: Index?
  private let cache: SourceFolder?
  private(set) var names: [FileName] = []
  /// Where the index may have restart points: an archive's entries, as the steps from its file.
  private var streams: [FileName: [[UInt64]]] = [:]

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
    let hasIndex = choices.below(2) == 1
    cache = hasIndex ? try SourceFolder(in: isThere ? base : nil) : nil
    for number in 0...choices.below(Self.mostFiles) {
      if number > 0, choices.isEmpty { break }
      try addFile(number, &choices)
    }
    guard let cache else { return }
    let index = Index(folder: cache.path)
    self.index = index
    for name in names { try poison(index, name, &choices) }
    // A file that was written just now has no identity, and so no place in the index.
    _ = usleep(25_000)
  }

  private mutating func addFile(_ number: Int, _ choices: inout Choices) throws {
    let kind = choices.below(8)
    let suffix = kind <= 2 ? "zip" : kind >= 6 ? "mbox" : choices.one(of: Self.extensions)
    let name = FileName("f\(number)" + Self.suffix(suffix))
    switch kind {
    case 0, 1, 2:
      let archive = Self.archive(&choices)
      streams[name] = Self.streams(of: archive)
      try source.write(name, archive)
    case 3:
      // Shorter ones would be read completely.
      let size = Int64(clamping: max(choices.number(), 1 << 57))
      do { try source.writeSparse(name, size: size, tail: [1]) } catch { try source.write(name, "no hole") }
    case 6, 7:
      let mails = (0...choices.below(3)).map { "From a@x Mon Jan  1 00:00:00 2018\nSubject: m\($0)\n\nbody\n\n" }
      try source.write(name, mails.joined())
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
    if choices.below(2) == 1 {
      // Long enough for restart points, and not longer than so much Deflate can give.
      var long = ZipFixtureEntry("long.bin", Array(repeating: 7, count: 20_000)).deflated()
      long.claimedSize = UInt64(longSize)
      fixture.entries.insert(long, at: 0)
    }
    fixture.endsInZip64 = choices.below(2) == 1
    if choices.below(8) == 1 { fixture.claimedDirectorySize = UInt32(truncatingIfNeeded: choices.number()) }
    if choices.below(8) == 1 { fixture.claimedDirectoryOffset = UInt32(truncatingIfNeeded: choices.number()) }
    return fixture
  }

  /// The size of a stream that has restart points.
  private static let longSize = 16 << 20

  /// The inflated entries whose data are where they seem to be.
  private static func streams(of archive: ZipFixture) -> [[UInt64]] {
    zip(archive.entries, archive.layout().data).filter { entry, _ in entry.method == 8 }.map { entry, place in
      let identity = ByteIdentity(
        device: 0, inode: 0, size: 0, modified: Timestamp(seconds: 0), changed: Timestamp(seconds: 0)
      ).adding(.range, UInt64(place), entry.claimedCompressedSize ?? UInt64((entry.data ?? entry.content).count))
        .adding(.inflate, entry.claimedSize ?? UInt64(entry.content.count), UInt64(ZipChecksum.crc32(entry.content)))
      return identity.steps
    }
  }

  // MARK: The index

  /// Stores malicious records of every kind, where the file's are looked for: what is exhausted of the input makes
  /// records without a fault.
  private func poison(_ index: Index, _ name: FileName, _ choices: inout Choices) throws {
    let place = try Descriptor.open(path: source.path, for: .place)
    let status = try FileStatus(of: name, in: place.raw)
    let identity = ByteIdentity(
      device: status.device, inode: status.inode, size: status.size, modified: status.modified, changed: status.changed)
    let file = [UInt8](bigEndian: Array(identity.file.prefix(2)))
    let messages = poisonMailbox(index, file, identity, &choices)
    index.store(
      (0..<7).map { value in
        let packed = value == 0 ? choices.bytes(filling: 16 * messages.count) : Self.groups(messages.count, &choices)
        let size = choices.below(4) == 1 ? choices.number() : UInt64(packed.count)
        return IndexRecord(
          key: [UInt8(value)] + [UInt8](bigEndian: [0]), value: messages.content + [UInt8](bigEndian: [size]) + packed)
      }, GroupStore.kind, of: file)
    index.store(
      [IndexRecord(key: [UInt8](bigEndian: [0]), value: messages.content + Self.attachments(messages.count, &choices))],
      AttachmentStore.kind, of: file)
    poisonSizes(index, identity, &choices)
    for steps in streams[name] ?? [] {
      let points = [1, 3, 8].map { place in
        StoredRestartPoint(
          place: place, image: [UInt8](littleEndian: [choices.number()]) + choices.bytes(upTo: choices.below(80)))
      }
      var stream = identity
      for step in stride(from: 0, to: steps.count, by: 3) {
        guard let kind = ByteIdentity.Step(rawValue: steps[step]) else { continue }
        stream = stream.adding(kind, steps[step + 1], steps[step + 2])
      }
      IndexedRestarts(index: index).note(of: stream, cost: 0) { points }
    }
    index.flush(within: .seconds(2))
  }

  /// Returns the number of messages that the directory claims, and what identifies their bytes in other records.
  private func poisonMailbox(
    _ index: Index, _ file: [UInt8], _ identity: ByteIdentity, _ choices: inout Choices
  ) -> (count: Int, content: [UInt8]) {
    let state = [UInt8](bigEndian: Array(identity.file.dropFirst(2)))
    let size = identity.file[2]
    let rows = (0...choices.below(5)).map { Self.row($0, &choices) }
    var directory = [size, 1, UInt64(rows.count), size, 0, UInt64(bitPattern: rows[0].separator)]
    if choices.below(4) == 1 {
      directory = [choices.number(), UInt64(choices.below(2)), UInt64(rows.count)]
      directory += [choices.number(), UInt64(choices.byte())]
      directory += (0..<choices.below(3)).map { _ in choices.number() }
    }
    // The numbers of the messages, then the rows.
    let numbers = choices.below(4) == 1 ? choices.bytes(upTo: 40) : []
    var block = [UInt8](bigEndian: numbers.count, count: 2) + numbers
    for row in rows { row.append(to: &block) }
    index.store(
      [
        IndexRecord(key: [0], value: state + [UInt8](littleEndian: directory)),
        IndexRecord(key: [1] + [UInt8](bigEndian: [0]), value: block), IndexRecord(key: [2], value: [0x78]),
        IndexRecord(key: [0] + [UInt8](bigEndian: [0]), value: numbers),
      ], MailboxStore.kind, of: file)
    return (rows.count, [UInt8](bigEndian: [directory[3], directory[4]]))
  }

  /// The sizes of results, of the file in its state.
  private func poisonSizes(_ index: Index, _ identity: ByteIdentity, _ choices: inout Choices) {
    // As `Item.revision` of a real file.
    var revision = StableHash()
    for word in identity.file.dropFirst() { revision.combine(word) }
    let known =
      TableForm.allCases.map { "table \($0.rawValue) \(TableForm.version)" }
      + [Recipe.text, Recipe.merged].map(\.description) + ["", "pages 1", "jpeg ", "compressed 150dpi.q60", "x"]
    index.store(
      known.map {
        IndexRecord(
          key: [UInt8](bigEndian: [revision.value]) + Array($0.utf8), value: [UInt8](bigEndian: [choices.number()]))
      }, ResultSizes.kind, of: ResultSizes.source)
  }

  private static func row(_ number: Int, _ choices: inout Choices) -> MessageRow {
    let odd = choices.byte()
    let separator = odd & 1 == 0 ? Int64(10 * number) : choices.signed()
    let start = odd & 2 == 0 ? separator &+ 3 : choices.signed()
    var row = MessageRow(separator: separator, start: start, end: odd & 4 == 0 ? start &+ 7 : choices.signed())
    if odd & 8 != 0 { row.date = choices.signed() }
    if odd & 16 != 0 { row.zone = Int(choices.signed()) }
    row.subject = String(decoding: choices.bytes(upTo: choices.below(12)), as: UTF8.self)
    if odd & 32 != 0 { row.labels = [choices.one(of: names), "a"] }
    return row
  }

  /// Names of groups and attachments; few of them are names that a file can have.
  private static let names = [
    "a", "..", ".", "", "/", "a//b", "a/../b", "/a", "a/", "2024/05", "a\0b", "\u{1}", "000001 x",
    String(repeating: "x", count: 300), "a/" + String(repeating: "y", count: 256),
  ]

  /// Groups as in the index: words of 32 bits, then the names.
  private static func groups(_ messages: Int, _ choices: inout Choices) -> [UInt8] {
    let names = (0..<[1, 0, 2, 3][choices.below(4)]).map { _ in Array(choices.one(of: Self.names).utf8) }
    let members = names.isEmpty ? 0 : choices.below(messages + 1)
    var end: UInt64 = 0
    var words = [UInt64(names.count), UInt64(members)]
    for name in names {
      end += UInt64(name.count)
      words.append(end)
    }
    words += names.indices.map { choices.below(3) == 1 ? UInt64(choices.below(4)) : UInt64($0) }
    words += names.indices.map { $0 + 1 == names.count ? UInt64(members) : UInt64(choices.below(members + 1)) }
    words += (0..<members).map { choices.below(4) == 1 ? UInt64(choices.below(8)) : UInt64($0) }
    if choices.below(8) == 1 { words[choices.below(words.count)] = choices.number() }
    return words.flatMap { [UInt8](littleEndian: [$0]).prefix(4) } + names.joined()
  }

  /// A block of attachments as in the index: a shape for each message, then the entries.
  private static func attachments(_ messages: Int, _ choices: inout Choices) -> [UInt8] {
    let count = choices.below(8) == 1 ? choices.byte() : UInt8(messages)
    var bytes: [UInt8] = [0, count] + (0..<messages).map { _ in 2 | choices.byte() }
    for _ in 0...choices.below(3) {
      let name = Array(choices.one(of: names).utf8.prefix(255))
      for bound in [messages, 3] {
        let word = choices.below(4) == 1 ? choices.number() : UInt64(choices.below(bound))
        bytes += [UInt8](littleEndian: [word]).prefix(4)
      }
      bytes += [UInt8(name.count)] + name
    }
    return bytes
  }
}

extension Choices {
  /// So many bytes, zeros after the end of the input.
  fileprivate mutating func bytes(filling count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
}
