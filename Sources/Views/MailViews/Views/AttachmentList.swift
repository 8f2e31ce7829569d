internal import Bytes
internal import Mail
internal import Text
internal import Tree

/// The attachments of a mailbox's messages, each with a unique name.
struct AttachmentList: Sendable {
  /// An attachment with its preferred name.
  struct Entry: Sendable, Equatable {
    /// The message's position, from 0.
    let position: UInt32
    /// The attachment's index within its message.
    let number: UInt32
    let name: [UInt8]
  }

  private var names: [UInt8] = []
  private var ends: [UInt32] = []
  private var places: [(position: UInt32, number: UInt32)] = []
  private var unique = UniqueNames()
  /// The preferred names that were taken, by index.
  private var wanted: [UInt32: [UInt8]] = [:]
  private var table = NameTable(expecting: 0)
  /// The positions of the messages with attachments.
  private(set) var messages: [UInt32] = []
  /// The shapes of all messages, by position.
  private(set) var shapes: [MessageShape] = []

  /// The maximum size of all names, in bytes.
  private static let roomForNames = 256 << 20

  var count: Int { ends.count }
  /// Whether the limit is reached. No more entries are added, so that no archive can exhaust the memory.
  var isFull: Bool { names.count >= Self.roomForNames }

  func name(_ index: Int) -> ArraySlice<UInt8> { names[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])] }
  func place(_ index: Int) -> (position: Int, number: Int) { (Int(places[index].position), Int(places[index].number)) }

  /// Returns an entry as it was added.
  func entry(_ index: Int) -> Entry {
    let name = wanted[UInt32(index)] ?? Array(name(index))
    return Entry(position: places[index].position, number: places[index].number, name: name)
  }

  func index(named name: FileName) -> Int? {
    table.find(NameTable.hash(0, name.bytes)) { self.name(Int($0)) == name.bytes }.map { Int($0) }
  }

  /// Adds the next block of messages.
  mutating func add(_ block: AttachmentStore.Block) {
    shapes += block.shapes
    for entry in block.entries { add(entry) }
  }

  /// Adds the next attachment, in order of messages.
  private mutating func add(_ entry: Entry) {
    if isFull { return }
    let name = unique.unique(entry.name[...])
    if name.bytes != entry.name[...] { wanted[UInt32(ends.count)] = entry.name }
    names += name.bytes
    ends.append(UInt32(names.count))
    places.append((entry.position, entry.number))
    if messages.last != entry.position { messages.append(entry.position) }
    if table.isFull { table = table.grown { NameTable.hash(0, self.name(Int($0))) } }
    table.insert(UInt32(ends.count - 1), NameTable.hash(0, name.bytes))
  }

  /// The size in memory, in bytes.
  var size: Int {
    names.count + 12 * ends.count + table.memorySize + 4 * messages.count + shapes.count + 200 * wanted.count
  }

  /// Frees the memory that only adding needs.
  mutating func finish() { unique = UniqueNames() }
}

extension AttachmentList.Entry {
  /// Creates an entry with a name such as `2024-05-03 Example Sender - report.pdf`.
  init(_ row: MessageRow, at position: Int, _ number: Int, _ file: FileName) {
    let sender = row.shownSender
    let text = "\(row.day ?? "undated") \(sender.isEmpty ? "unknown sender" : sender)"
    let start = Array(SafeName.cut(Array(text.utf8)[...], to: 100)) + Array(" - ".utf8)
    self.position = UInt32(truncatingIfNeeded: position)
    self.number = UInt32(truncatingIfNeeded: number)
    name = start + SafeName.cut(file.bytes, keepingExtensionTo: SafeName.longest - start.count)
  }

  /// Appends the serialized form for the index.
  func append(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: position)
    bytes.append(littleEndian: number)
    bytes.append(UInt8(truncatingIfNeeded: name.count))
    bytes += name
  }

  /// Parses the concatenated output of `append`. Returns `nil` if it is malformed.
  static func entries(in bytes: ArraySlice<UInt8>) -> [AttachmentList.Entry]? {
    var entries: [AttachmentList.Entry] = []
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 9 else { return nil }
      let count = Int(rest[rest.startIndex + 8])
      guard rest.count >= 9 + count, count > 0 else { return nil }
      let name = Array(rest.dropFirst(9).prefix(count))
      guard !name.contains(0x2f), !name.contains(0), name != [0x2e], name != [0x2e, 0x2e] else { return nil }
      entries.append(
        AttachmentList.Entry(
          position: UInt32(littleEndianBytes: rest), number: UInt32(littleEndianBytes: rest.dropFirst(4)), name: name))
      rest = rest.dropFirst(9 + count)
    }
    return entries
  }
}
