internal import Bytes

/// The messages with known serial numbers. Each number can be taken once, by a message of the current state with an
/// equal key.
///
/// Messages with equal keys take their numbers in order. Taking a number by key takes amortized constant time.
struct KnownNumbers {
  private struct Entry {
    let key: NumberBook.Key
    let number: UInt32
    var isTaken = false
  }

  /// The entries, in ascending order of the numbers.
  private var entries: [Entry] = []
  /// The index after the last entry taken. The next message most likely has that entry.
  private var next = 0
  /// The entries by key, created on demand.
  private var exact: Chains?
  private var likely: Chains?

  /// Entries with equal keys, in order.
  private struct Chains {
    /// The first entry that may be available and the last entry, by key.
    private var ends: [UInt64: (first: UInt32, last: UInt32)]
    private var following: [UInt32]
    private static let none = UInt32.max

    init(expecting count: Int) {
      ends = Dictionary(minimumCapacity: count)
      following = []
      following.reserveCapacity(count)
    }

    /// Adds the next entry. A key of 0 means none.
    mutating func append(_ key: UInt64) {
      let entry = UInt32(following.count)
      following.append(Self.none)
      guard key != 0 else { return }
      if let known = ends[key] {
        if known.first != Self.none { following[Int(known.last)] = entry }
        ends[key] = (known.first == Self.none ? entry : known.first, entry)
      } else {
        ends[key] = (entry, entry)
      }
    }

    /// Returns the first entry of a key that is not taken.
    mutating func first(_ key: UInt64, _ isTaken: (Int) -> Bool) -> Int? {
      guard var found = ends[key] else { return nil }
      let before = found.first
      while found.first != Self.none, isTaken(Int(found.first)) { found.first = following[Int(found.first)] }
      if found.first != before { ends[key] = found }
      return found.first == Self.none ? nil : Int(found.first)
    }
  }

  /// Reserves memory for `count` messages, up to a limit because the count may be wrong.
  init(expecting count: Int) { entries.reserveCapacity(min(count, 1 << 20)) }

  /// Adds a message with a higher number than all before.
  mutating func append(_ number: UInt32, _ key: NumberBook.Key) {
    if let last = entries.last, last.number >= number { return }
    entries.append(Entry(key: key, number: number))
    exact?.append(key.exact)
    likely?.append(key.likely)
  }

  mutating func take(_ number: UInt32) {
    let place = entries.partitionIndex { $0.number < number }
    if place < entries.count, entries[place].number == number { take(at: place) }
  }

  @discardableResult
  private mutating func take(at place: Int) -> UInt32 {
    entries[place].isTaken = true
    next = place + 1
    return entries[place].number
  }

  /// Takes the first free number of a message with this key.
  mutating func take(exact key: UInt64) -> UInt32? {
    // As long as none has been removed, messages follow each other as before.
    if exact == nil, next < entries.count, !entries[next].isTaken, entries[next].key.exact == key {
      return take(at: next)
    }
    if exact == nil {
      var made = Chains(expecting: entries.count)
      for entry in entries { made.append(entry.key.exact) }
      exact = made
    }
    return exact?.first(key) { entries[$0].isTaken }.map { take(at: $0) }
  }

  /// Takes the first free number of a message with this key.
  mutating func take(likely key: UInt64) -> UInt32? {
    if likely == nil {
      var made = Chains(expecting: entries.count)
      for entry in entries { made.append(entry.key.likely) }
      likely = made
    }
    return likely?.first(key) { entries[$0].isTaken }.map { take(at: $0) }
  }

  /// The numbers that are not taken, in ascending order.
  var notTaken: [UInt32] { entries.filter { !$0.isTaken }.map(\.number) }
}
