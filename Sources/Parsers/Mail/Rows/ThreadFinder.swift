internal import Bytes

/// Groups messages into threads: by Gmail's thread number, else by their references (RFC 5256 §3, REFERENCES), else,
/// for a reply without known references, by the base subject.
///
/// A message's own last reference is its parent. The references of other messages determine an ID's parent only if its
/// own message has none. Links that would close a loop are ignored, and messages with the same ID are in one thread.
/// Unlike in RFC 5256, two messages are not a thread merely because they have the same subject. No recursion. O(n) time
/// except for sorting, some 12 bytes of memory per message, and 20 per ID.
public struct ThreadFinder: Sendable {
  /// The IDs by number, or 0 for a message without one. IDs that are known or referred to have numbers.
  private var ids: [UInt64] = []
  private var table = NameTable(expecting: 0)
  /// The number of the parent, by number, marked if it is from the message's own references.
  private var links: [UInt32] = []
  /// The messages that Gmail has assigned to a thread, by number, with their thread's number.
  private var placed: [(number: UInt32, root: UInt32)] = []
  /// The numbers of Gmail's threads.
  private var gmail: [UInt64: UInt32] = [:]
  /// The number of each message, and its base subject's key, marked if it is a reply.
  private var numbers: [UInt32] = []
  private var subjects: [UInt64] = []

  private static let none = UInt32.max
  private static let mark: UInt32 = 1 << 31
  private static let replyMark: UInt64 = 1 << 63

  /// The threads of all messages added.
  public struct Threads: Sendable {
    /// The thread of each message. Threads are numbered in order of their first messages.
    public let numbers: [UInt32]
    /// The oldest message of each thread, the first of equally old ones.
    public let oldest: [UInt32]

    public var count: Int { oldest.count }
  }

  /// `count` is the approximate number of messages.
  public init(expecting count: Int = 0) {
    ids.reserveCapacity(count)
    links.reserveCapacity(count)
    numbers.reserveCapacity(count)
    subjects.reserveCapacity(count)
    table = NameTable(expecting: count)
  }

  /// Adds the next message of the mailbox. Returns its base subject, which takes a while to find.
  @discardableResult
  public mutating func add(_ row: MessageRow) -> BaseSubject {
    let number = row.messageID.map { self.number(of: $0) } ?? newNumber(0)
    if let thread = row.thread {
      let root = gmail[thread] ?? newNumber(0)
      gmail[thread] = root
      placed.append((number, root))
    } else {
      var before = Self.none
      for reference in row.references {
        let next = self.number(of: reference)
        if before != Self.none, links[Int(next)] == Self.none { links[Int(next)] = before }
        before = next
      }
      if before != Self.none, !isOwn(links[Int(number)]) { links[Int(number)] = before | Self.mark }
    }
    let base = BaseSubject(row.subject)
    numbers.append(number)
    subjects.append(base.key & ~Self.replyMark | (base.isReply ? Self.replyMark : 0))
    return base
  }

  private func isOwn(_ link: UInt32) -> Bool { link != Self.none && link & Self.mark != 0 }

  private mutating func newNumber(_ id: UInt64) -> UInt32 {
    ids.append(id)
    links.append(Self.none)
    return UInt32(ids.count - 1)
  }

  /// Returns Swift's per-process hash of an ID, because senders can choose IDs.
  private static func hash(_ id: UInt64) -> Int {
    var hasher = Hasher()
    hasher.combine(id)
    return hasher.finalize()
  }

  private mutating func number(of id: UInt64) -> UInt32 {
    let hash = Self.hash(id)
    if let known = table.find(hash, where: { ids[Int($0)] == id }) { return known }
    let number = newNumber(id)
    if table.isFull { table = table.grown { Self.hash(ids[Int($0)]) } }
    table.insert(number, hash)
    return number
  }

  /// Groups the messages into threads. `dates` are those of the messages, in the same order, `Int64.min` for one
  /// without a date.
  public mutating func takeThreads(dates: [Int64]) -> Threads {
    // Moved out, so that nothing is copied and each array is freed after its use.
    var taken = ThreadFinder()
    swap(&self, &taken)
    taken.ids = []
    taken.table = NameTable(expecting: 0)
    var forest = Forest(count: taken.links.count, fixed: Set(taken.gmail.values))
    for (number, root) in taken.placed { _ = forest.unite(number, root) }
    for (number, link) in taken.links.enumerated() where taken.isOwn(link) {
      _ = forest.unite(UInt32(number), link & ~Self.mark)
    }
    for (number, link) in taken.links.enumerated() where link != Self.none && !taken.isOwn(link) {
      _ = forest.unite(UInt32(number), link)
    }
    taken.placed = []
    taken.links = []
    taken.joinBySubject(&forest, dates)
    taken.subjects = []
    let oldest = taken.oldest(&forest, dates)
    var known = [UInt32](repeating: Self.none, count: forest.count)
    var starts: [UInt32] = []
    for index in taken.numbers.indices {
      let root = Int(forest.find(taken.numbers[index]))
      if known[root] == Self.none {
        known[root] = UInt32(starts.count)
        starts.append(oldest[root])
      }
      taken.numbers[index] = known[root]
    }
    return Threads(numbers: taken.numbers, oldest: starts)
  }

  /// Returns the oldest message of each tree, by root.
  private func oldest(_ forest: inout Forest, _ dates: [Int64]) -> [UInt32] {
    var oldest = [UInt32](repeating: Self.none, count: forest.count)
    for index in numbers.indices {
      let root = Int(forest.find(numbers[index]))
      if oldest[root] != Self.none, Self.age(dates, oldest[root]) <= Self.age(dates, UInt32(index)) { continue }
      oldest[root] = UInt32(index)
    }
    return oldest
  }

  /// Returns the sort key of a message. A message without a date sorts after all others.
  private static func age(_ dates: [Int64], _ index: UInt32) -> Int64 {
    dates[Int(index)] == .min ? .max : dates[Int(index)]
  }

  // MARK: Subjects

  /// Joins a thread that starts with a reply to the latest thread of the same subject that began before it, or else the
  /// first one.
  private func joinBySubject(_ forest: inout Forest, _ dates: [Int64]) {
    var starts: [(key: UInt64, index: UInt32)] = []
    for index in oldest(&forest, dates) where index != Self.none {
      let key = subjects[Int(index)] & ~Self.replyMark
      if key != 0 { starts.append((key, index)) }
    }
    starts.sort { ($0.key, Self.age(dates, $0.index), $0.index) < ($1.key, Self.age(dates, $1.index), $1.index) }
    // The threads of one subject that do not start with a reply, oldest first.
    var originals: [UInt32] = []
    var first = 0
    while first < starts.count {
      let end = starts[first...].firstIndex { $0.key != starts[first].key } ?? starts.count
      originals.removeAll(keepingCapacity: true)
      for start in starts[first..<end] where !isReply(start.index) { originals.append(start.index) }
      var reply: UInt32?
      for start in starts[first..<end] where isReply(start.index) {
        let date = Self.age(dates, start.index)
        let place = originals.partitionIndex { Self.age(dates, $0) <= date }
        let target = originals.isEmpty ? reply : originals[max(0, place - 1)]
        if let target { _ = forest.unite(numbers[Int(start.index)], numbers[Int(target)]) }
        reply = reply ?? start.index
      }
      first = end
    }
  }

  private func isReply(_ index: UInt32) -> Bool { subjects[Int(index)] & Self.replyMark != 0 }
}

/// A disjoint-set forest of numbers.
private struct Forest {
  private var parents: [UInt32]
  /// Roots that stay roots, and are not joined.
  private let fixed: Set<UInt32>

  init(count: Int, fixed: Set<UInt32>) {
    parents = Array(0..<UInt32(count))
    self.fixed = fixed
  }

  var count: Int { parents.count }

  /// Returns the root of a number's tree, with path halving.
  mutating func find(_ number: UInt32) -> UInt32 {
    var number = number
    while parents[Int(number)] != number {
      parents[Int(number)] = parents[Int(parents[Int(number)])]
      number = parents[Int(number)]
    }
    return number
  }

  /// Joins two trees, unless both are threads of Gmail's. Returns whether they were joined.
  mutating func unite(_ one: UInt32, _ other: UInt32) -> Bool {
    let (one, other) = (find(one), find(other))
    guard one != other else { return false }
    // The root is the lower number, except that Gmail's threads stay roots.
    let isFixed = fixed.contains(one)
    if isFixed, fixed.contains(other) { return false }
    if isFixed || one < other && !fixed.contains(other) {
      parents[Int(other)] = one
    } else {
      parents[Int(one)] = other
    }
    return true
  }
}
