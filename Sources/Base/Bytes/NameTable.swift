/// An open-addressing hash table of 32-bit numbers, by parent and name.
///
/// Names are stored elsewhere; the caller compares and rehashes them. Keyed by Swift's per-process hash, so that
/// hostile input cannot choose names that collide. Not thread-safe.
public struct NameTable: Sendable {
  /// The numbers plus one; 0 marks a free slot. The count is a power of two, and at most two thirds are in use.
  private var slots: [UInt32]
  private var taken = 0

  public init(expecting count: Int) { slots = Array(repeating: 0, count: NameTable.slots(expecting: count)) }

  private static func slots(expecting count: Int) -> Int {
    var size = 16
    while size / 3 * 2 < count { size *= 2 }
    return size
  }

  /// The size in bytes.
  public var memorySize: Int { slots.count * MemoryLayout<UInt32>.stride }

  /// Returns the size in bytes of a table for `count` numbers.
  public static func memorySize(expecting count: Int) -> Int {
    slots(expecting: count) * MemoryLayout<UInt32>.stride
  }

  /// The maximum number of entries.
  public var capacity: Int { slots.count / 3 * 2 }

  public static func hash(_ parent: UInt32, _ name: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(parent)
    unsafe name.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  /// Returns the number with this hash for which `matches` is true. Returns `nil` if there is none.
  public func find(_ hash: Int, where matches: (UInt32) -> Bool) -> UInt32? {
    var index = hash & (slots.count - 1)
    while slots[index] != 0 {
      if matches(slots[index] - 1) { return slots[index] - 1 }
      index = (index + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Whether the table must be `grown` before the next insertion.
  public var isFull: Bool { taken >= capacity }

  /// Returns a copy with at least twice the capacity, and room for `count` numbers.
  public func grown(for count: Int = 0, rehash: (UInt32) -> Int) -> NameTable {
    var larger = NameTable(expecting: max(capacity + 1, count))
    for value in slots where value != 0 { larger.place(value, rehash(value - 1)) }
    larger.taken = taken
    return larger
  }

  /// Adds a number that is not in the table. The table must not be full.
  public mutating func insert(_ number: UInt32, _ hash: Int) {
    precondition(!isFull)
    place(number + 1, hash)
    taken += 1
  }

  /// Replaces a number with another one that has the same hash.
  public mutating func replace(_ number: UInt32, with other: UInt32, _ hash: Int) {
    var index = hash & (slots.count - 1)
    while slots[index] != 0 {
      if slots[index] == number + 1 {
        slots[index] = other + 1
        return
      }
      index = (index + 1) & (slots.count - 1)
    }
  }

  private mutating func place(_ value: UInt32, _ hash: Int) {
    var index = hash & (slots.count - 1)
    while slots[index] != 0 { index = (index + 1) & (slots.count - 1) }
    slots[index] = value
  }

  /// Removes a number and moves later ones up, so that no probe sequence is interrupted.
  public mutating func remove(_ number: UInt32, _ hash: Int, rehash: (UInt32) -> Int) {
    let mask = slots.count - 1
    var hole = hash & mask
    while slots[hole] != number + 1 {
      if slots[hole] == 0 { return }
      hole = (hole + 1) & mask
    }
    taken -= 1
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = rehash(slots[next] - 1) & mask
      // An entry may move if its home slot is not cyclically within (hole, next].
      if (next &- home) & mask >= (next &- hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
  }
}
