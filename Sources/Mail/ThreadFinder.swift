/// Finds out which messages belong together: by Gmail's number, else by the references between them (RFC 5256 §3,
/// REFERENCES), else, for what is called a reply and refers to nothing that is known, by the base subject.
///
/// A message's own last reference makes its parent; what others say of an id counts where its message says nothing. Links
/// that would close a loop are left out, and messages of one id are in one thread. Unlike in RFC 5256, two messages that
/// merely have the same subject are no thread. Nothing recurses; time is linear but for sorting, memory some 100 bytes a
/// message.
public struct ThreadFinder {
  /// By number: an id that is known or referred to, or a message without one.
  private var parents: [UInt32] = []
  private var claims: [UInt32] = []
  private var forest: [UInt32] = []
  /// Gmail's threads, by their trees' roots in `forest`.
  private var fixed: Set<UInt32> = []
  private var numbers: [UInt64: UInt32] = [:]
  private var gmail: [UInt64: UInt32] = [:]
  private var mails: [Mail] = []
  /// The base subjects, one behind the other.
  private var subjects: [UInt8] = []

  private static let none = UInt32.max

  private struct Mail {
    var number: UInt32
    var subjectEnd: UInt32
    /// 0: none.
    var subjectKey: UInt64
    var isReply: Bool
    /// The end of time for a message without one.
    var date: Int64
  }

  /// The threads of the messages that were added.
  public struct Threads {
    /// Of each message: the number of its thread. They are numbered by their first messages.
    public let numbers: [UInt32]
    /// Of each thread: the base subject of its oldest message; perhaps empty.
    public let subjects: [String]
  }

  public init() {}

  /// Adds the next message of the archive.
  public mutating func add(_ row: MessageRow) {
    let number = row.messageID.map { self.number(of: $0) } ?? newNumber()
    if row.thread == nil {
      var before = Self.none
      for reference in row.references {
        let next = self.number(of: reference)
        if before != Self.none, claims[Int(next)] == Self.none { claims[Int(next)] = before }
        before = next
      }
      if parents[Int(number)] == Self.none { parents[Int(number)] = before }
    } else if let thread = row.thread {
      let root = gmail[thread] ?? newNumber()
      gmail[thread] = root
      fixed.insert(find(root))
      _ = unite(number, root)
    }
    let base = BaseSubject(row.subject)
    subjects += base.text.utf8
    mails.append(
      Mail(
        number: number, subjectEnd: UInt32(truncatingIfNeeded: subjects.count), subjectKey: base.key,
        isReply: base.isReply, date: row.date ?? .max))
  }

  /// Puts the messages into threads.
  public consuming func threads() -> Threads {
    var finder = self
    for number in finder.parents.indices where finder.parents[number] != Self.none {
      _ = finder.unite(UInt32(number), finder.parents[number])
    }
    for number in finder.claims.indices where finder.parents[number] == Self.none && finder.claims[number] != Self.none
    {
      _ = finder.unite(UInt32(number), finder.claims[number])
    }
    finder.joinBySubject()
    let oldest = finder.oldest()
    var known: [UInt32: UInt32] = [:]
    var subjects: [String] = []
    let threads = finder.mails.indices.map { index in
      let root = finder.find(finder.mails[index].number)
      if let thread = known[root] { return thread }
      let thread = UInt32(subjects.count)
      known[root] = thread
      subjects.append(finder.subject(of: oldest[root] ?? index))
      return thread
    }
    return Threads(numbers: threads, subjects: subjects)
  }

  private func subject(of index: Int) -> String {
    let start = index == 0 ? 0 : Int(mails[index - 1].subjectEnd)
    return String(decoding: subjects[start..<Int(mails[index].subjectEnd)], as: UTF8.self)
  }

  /// The oldest message of each tree, by the tree's root.
  private mutating func oldest() -> [UInt32: Int] {
    var oldest: [UInt32: Int] = [:]
    for index in mails.indices {
      let root = find(mails[index].number)
      if let other = oldest[root], mails[other].date <= mails[index].date { continue }
      oldest[root] = index
    }
    return oldest
  }

  // MARK: Subjects

  /// A thread that starts with a reply joins the one of the same subject that began last before it, or first.
  private mutating func joinBySubject() {
    let starts = oldest().values.sorted { (mails[$0].date, $0) < (mails[$1].date, $1) }
    /// Threads that start with no reply, by subject, oldest first; and the first of those that do.
    var originals: [UInt64: [Int]] = [:]
    var replies: [UInt64: Int] = [:]
    for start in starts where mails[start].subjectKey != 0 && !mails[start].isReply {
      originals[mails[start].subjectKey, default: []].append(start)
    }
    for start in starts where mails[start].isReply && mails[start].subjectKey != 0 {
      let key = mails[start].subjectKey
      let date = mails[start].date
      if let found = originals[key] {
        let place = found.partition { mails[$0].date <= date }
        _ = unite(mails[start].number, mails[found[max(0, place - 1)]].number)
      } else if let first = replies[key] {
        _ = unite(mails[start].number, mails[first].number)
      } else {
        replies[key] = start
      }
    }
  }

  // MARK: Numbers

  private mutating func newNumber() -> UInt32 {
    let number = UInt32(forest.count)
    forest.append(number)
    parents.append(Self.none)
    claims.append(Self.none)
    return number
  }

  private mutating func number(of id: UInt64) -> UInt32 {
    if let known = numbers[id] { return known }
    let number = newNumber()
    numbers[id] = number
    return number
  }

  /// The root of a number's tree; the way to it is halved.
  private mutating func find(_ number: UInt32) -> UInt32 {
    var number = number
    while forest[Int(number)] != number {
      forest[Int(number)] = forest[Int(forest[Int(number)])]
      number = forest[Int(number)]
    }
    return number
  }

  /// Makes two trees one, unless they are threads that Gmail keeps apart. Gives whether they were two.
  private mutating func unite(_ one: UInt32, _ other: UInt32) -> Bool {
    let (one, other) = (find(one), find(other))
    guard one != other else { return false }
    // The root is the older number, but Gmail's threads stay roots.
    let isFixed = fixed.contains(one)
    if isFixed, fixed.contains(other) { return false }
    if isFixed || one < other && !fixed.contains(other) {
      forest[Int(other)] = one
    } else {
      forest[Int(one)] = other
    }
    return true
  }
}

extension [Int] {
  /// How many of the first elements `holds` is true for; it is for none behind them. O(log n).
  fileprivate func partition(_ holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
