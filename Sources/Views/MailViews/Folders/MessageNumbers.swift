internal import Bytes
internal import Mail
internal import Tree

/// The index numbers of a directory's messages, under which data derived from each message is stored. Messages keep
/// them while the directory changes. They differ from the numbers in names: see `NumberBook`.
///
/// Each number is assigned once. A removed message loses its number for good: if its file returns, it gets another one,
/// because nothing was derived from it meanwhile. When most numbers are of removed messages, all are assigned anew, in
/// another epoch.
struct MessageNumbers: Sendable {
  /// Distinguishes these numbers from all that were assigned before an index was lost or renumbered. Eight bytes.
  let epoch: [UInt8]
  /// The message files, by number. Nil for removed messages.
  private(set) var identities: [MailFile.Identity?]
  /// The numbers, by position.
  private(set) var numbers: [UInt32]
  /// The positions, by number. `none` for removed messages.
  private(set) var positions: [UInt32]
  /// The blocks of numbers that have changed.
  private(set) var changed: Set<Int> = []

  /// The first number that was not stored before.
  let firstAdded: Int
  /// Whether messages lose the numbers that they had.
  private(set) var takesAny = false

  static let none = UInt32.max

  /// Assigns new numbers to `files`, in their order.
  init(of files: [MailFile]) {
    epoch = [UInt8](bigEndian: UInt64.random(in: 0 ... .max))
    firstAdded = 0
    identities = files.map(\.identity)
    numbers = Array(0..<UInt32(files.count))
    positions = numbers
    changed = Set(0..<(files.count + BlockIndex.blockSize - 1) / BlockIndex.blockSize)
  }

  /// Uses the stored numbers, and assigns new ones to files that have none. Returns `nil` if all should be assigned
  /// anew.
  init?(_ epoch: [UInt8], _ stored: [MailFile.Identity?], for files: [MailFile]) {
    self.epoch = epoch
    firstAdded = stored.count
    identities = stored
    positions = Array(repeating: Self.none, count: stored.count)
    numbers = []
    numbers.reserveCapacity(files.count)
    let list = files.span
    // Most messages follow each other as before.
    var next = 0
    var others: [Int] = []
    for position in list.indices {
      if let number = stored[next...].prefix(Self.mostSkipped).firstIndex(of: list[position].identity) {
        numbers.append(UInt32(number))
        positions[number] = UInt32(position)
        next = number + 1
      } else {
        numbers.append(Self.none)
        others.append(position)
      }
    }
    var known: [UInt64: UInt32] = [:]
    for (number, identity) in stored.enumerated() where !others.isEmpty && positions[number] == Self.none {
      if let identity { known[identity.hash] = UInt32(number) }
    }
    for position in others {
      let identity = list[position].identity
      if let number = known[identity.hash], stored[Int(number)] == identity, positions[Int(number)] == Self.none {
        numbers[position] = number
        positions[Int(number)] = UInt32(position)
        continue
      }
      let number = identities.count
      guard number < Int(Int32.max) else { return nil }
      numbers[position] = UInt32(number)
      positions.append(UInt32(position))
      identities.append(identity)
      changed.insert(number / BlockIndex.blockSize)
    }
    for number in stored.indices where positions[number] == Self.none && stored[number] != nil {
      identities[number] = nil
      takesAny = true
      changed.insert(number / BlockIndex.blockSize)
    }
    if identities.count > 2 * files.count + Self.mostGone { return nil }
  }

  /// The number of stored numbers after the last message's among which the next message's is searched for first.
  private static let mostSkipped = 4
  /// The number of removed messages whose numbers are always kept.
  private static let mostGone = 4096

  /// One more than the highest number of a message in `files`.
  var count: Int { positions.lastIndex { $0 != Self.none }.map { $0 + 1 } ?? 0 }
}

extension MailFile.Identity {
  /// The size in the index, in bytes.
  static let packedSize = 36

  /// Appends the serialized form for the index. A removed message is all zeros.
  static func append(_ identity: Self?, to bytes: inout [UInt8]) {
    bytes.append(littleEndian: identity?.inode ?? 0)
    bytes.append(littleEndian: identity?.size ?? 0)
    bytes.append(littleEndian: identity?.modified.seconds ?? 0)
    bytes.append(littleEndian: identity?.modified.nanoseconds ?? 0)
    bytes.append(littleEndian: identity?.name ?? 0)
  }

  /// Parses the concatenated output of `append`. Ignores a rest that is too short.
  static func read(_ bytes: ArraySlice<UInt8>, to identities: inout [Self?]) {
    let span = bytes.span
    func word(_ start: Int, _ size: Int = 8) -> UInt64 {
      var word: UInt64 = 0
      for place in 0..<size { word |= UInt64(span[start + place]) << UInt64(8 * place) }
      return word
    }
    for start in stride(from: 0, through: span.count - packedSize, by: packedSize) {
      let inode = word(start)
      guard inode != 0 else {
        identities.append(nil)
        continue
      }
      let modified = Timestamp(
        seconds: Int64(bitPattern: word(start + 16)), nanoseconds: Int32(truncatingIfNeeded: word(start + 24, 4)))
      identities.append(
        Self(inode: inode, size: Int64(bitPattern: word(start + 8)), modified: modified, name: word(start + 28)))
    }
  }
}
