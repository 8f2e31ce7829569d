internal import Bytes
internal import Mail
internal import Tree

/// The names, serial numbers and extents of a block of messages, cached for the views. Listing one sender's messages
/// needs a few of every block.
struct ShownBlock: Sendable {
  /// The directories' names, concatenated, and their end offsets.
  private let names: [UInt8]
  private let ends: [UInt32]
  private let serials: [UInt32]
  private let stretches: [ShownMessage.Chunk]

  /// The cache's capacity over all mailboxes, in bytes: for some 100,000 messages.
  static let roomForAll = 12 << 20

  /// `serial` returns the number in the name of the message at an index.
  init(_ rows: [MessageRow], _ serial: (Int) throws(Fault) -> Int) throws(Fault) {
    var names: [UInt8] = []
    var ends: [UInt32] = []
    var serials: [UInt32] = []
    for (index, row) in rows.enumerated() {
      let serial = try serial(index)
      names += row.folderName(position: serial).bytes
      serials.append(UInt32(clamping: serial))
      ends.append(UInt32(names.count))
    }
    self.names = names
    self.ends = ends
    self.serials = serials
    stretches = rows.map { ShownMessage.Chunk($0) }
  }

  var count: Int { ends.count }
  /// The approximate size in memory, in bytes.
  var cost: Int { names.count + ends.count * (8 + MemoryLayout<ShownMessage.Chunk>.stride) }

  func name(_ index: Int) -> ArraySlice<UInt8> { names[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])] }
  func serial(_ index: Int) -> Int { Int(serials[index]) }
  func stretch(_ index: Int) -> ShownMessage.Chunk { stretches[index] }
}
