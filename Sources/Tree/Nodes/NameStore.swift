internal import Bytes
internal import Files
internal import Locks

/// The names of a `PersistentNodeTable`, each preceded by its length. Free memory is not recorded: each process
/// determines it from the names in use.
final class NameStore: Sendable {
  /// The capacity, in bytes. The reference of a name has 32 bits and counts units.
  static let capacity = 4 << 30
  private static let unit = 8
  private let memory: SharedMemory
  private let start: Int

  private struct Room {
    /// The references of removed names, by number of units.
    var free: [Int: [UInt64]] = [:]
    /// Free ranges, in units. A new name is stored at the start of the last one.
    var stretches = [UInt64(1)..<UInt64(NameStore.capacity / NameStore.unit)]
  }
  private let room = UnfairLock(Room())

  init(_ memory: SharedMemory, at start: Int) {
    self.memory = memory
    self.start = start
  }

  private static func units(_ count: Int) -> Int { (count + 2 + unit - 1) / unit }
  private func place(_ reference: UInt64) -> Int { start + Int(reference) * Self.unit }
  private func count(_ reference: UInt64) -> Int { Int(memory.load(place(reference), as: UInt16.self)) }

  /// Frees everything that `references` do not use.
  func claim(_ references: [UInt64]) {
    var stretches: [Range<UInt64>] = []
    var end: UInt64 = 1
    for reference in references.sorted() where reference >= end {
      if reference > end { stretches.append(end..<reference) }
      end = reference + UInt64(Self.units(count(reference)))
    }
    stretches.append(end..<UInt64(Self.capacity / Self.unit))
    // The end of the memory is used last, after the gaps between names.
    stretches.reverse()
    room.withLock { $0.stretches = stretches }
  }

  var hasRoom: Bool { room.withLock { $0.stretches.first.map { $0.count > 64 } ?? false } }

  subscript(reference: UInt64) -> FileName {
    FileName(memory.bytes(at: place(reference) + 2, count: count(reference)))
  }

  func holds(_ name: FileName, at reference: UInt64) -> Bool {
    count(reference) == name.count && memory.holds(name.bytes, at: place(reference) + 2)
  }

  /// Stores a name. Returns its reference.
  func add(_ name: FileName) -> UInt64 {
    let units = Self.units(name.count)
    let reference = room.withLock { room -> UInt64 in
      if let known = room.free[units]?.popLast() { return known }
      while let stretch = room.stretches.last, room.stretches.count > 1, stretch.count < units {
        room.stretches.removeLast()
      }
      let last = room.stretches.count - 1
      let place = room.stretches[last].lowerBound
      room.stretches[last] = (place + UInt64(units))..<room.stretches[last].upperBound
      return place
    }
    memory.store(UInt16(name.count), at: place(reference))
    memory.store(name.bytes[...], at: place(reference) + 2)
    return reference
  }

  func remove(_ reference: UInt64) {
    let units = Self.units(count(reference))
    room.withLock { $0.free[units, default: []].append(reference) }
  }
}
