import Bytes
import Files
import Index
import TestSupport
import Testing

@testable import MailViews
@testable import Tree

/// The numbers that messages keep.
@Suite(.timeLimit(.minutes(5))) struct NumberBookTests {
  private static let folder = FolderIdentity(device: 7, inode: 8, created: 1)

  private func withIndex(_ body: (Index) throws -> Void) throws {
    let cache = try SourceFolder()
    let index = Index(folder: cache.path)
    defer { index.finish(within: .seconds(2)) }
    try body(index)
  }

  private static func key(_ message: Int, version: Int = 0) -> NumberBook.Key {
    NumberBook.Key(exact: UInt64(1000 * message + version + 1), likely: UInt64(message + 1))
  }

  private static func book(_ index: Index?) -> NumberBook {
    NumberBook(index.map { NumberStore(of: folder, isTree: false, $0) })
  }

  /// The numbers of messages in a new state.
  private static func numbers(_ keys: [NumberBook.Key], _ index: Index?, block: Int = 512) -> [Int] {
    var book = book(index)
    for start in stride(from: 0, to: keys.count, by: block) { book.add(Array(keys[start...].prefix(block))) }
    book.finish()
    return (0..<book.given.count).map { book.given[$0] }
  }

  private static func numbers(_ messages: some Sequence<Int>, _ index: Index?, block: Int = 512) -> [Int] {
    numbers(messages.map { key($0) }, index, block: block)
  }

  @Test func messageNumberIsFirstPositionAndStable() throws {
    try withIndex { index in
      #expect(Self.numbers(0..<2000, index) == Array(1...2000))
      let some = Array(0..<2000).filter { $0 % 3 != 1 }
      #expect(Self.numbers(some, index) == some.map { $0 + 1 })
      #expect(Self.numbers(some.reversed(), index) == some.reversed().map { $0 + 1 })
      // New ones have numbers that none had, wherever they are.
      #expect(Self.numbers([5000] + some + [5001], index) == [2001] + some.map { $0 + 1 } + [2002])
      #expect(Self.numbers([Int](), index) == [])
      #expect(Self.numbers([5001, 1, 5002], index) == [2002, 2, 2003])
      #expect(Self.numbers(0..<2000, index) == Array(1...2000))
    }
  }

  @Test func messageNumbersAreIndependentOfBlocks() throws {
    for block in [1, 7, 512] {
      try withIndex { index in
        #expect(Self.numbers(0..<1500, index, block: block) == Array(1...1500))
        let some = Array(3..<1510)
        #expect(Self.numbers(some, index, block: block) == some.map { $0 + 1 })
      }
    }
  }

  @Test func equalMessagesAreNumberedInOrder() throws {
    try withIndex { index in
      #expect(Self.numbers([1, 1, 2, 1], index) == [1, 2, 3, 4])
      #expect(Self.numbers([1, 2, 1, 1, 1], index) == [1, 3, 2, 4, 5])
      #expect(Self.numbers(Array(repeating: 1, count: 20_000), index).suffix(2) == [20_000, 20_001])
    }
  }

  @Test func changedMessageKeepsItsUniqueNumber() throws {
    try withIndex { index in
      _ = Self.numbers(0..<5, index)
      let changed = [Self.key(0), Self.key(1, version: 1), Self.key(2), Self.key(3, version: 1)]
      #expect(Self.numbers(changed, index) == [1, 2, 3, 4])
      // Of two that may be the same, the unchanged one has precedence.
      #expect(Self.numbers([Self.key(2, version: 5), Self.key(2)], index) == [6, 3])
      #expect(Self.numbers([Self.key(2, version: 5), Self.key(2), Self.key(2, version: 6)], index) == [6, 3, 7])
      #expect(
        Self.numbers([NumberBook.Key(exact: 9, likely: 0), NumberBook.Key(exact: 11, likely: 0)], index) == [8, 9])
    }
  }

  @Test func concurrentProcessesAssignUniqueNumbers() throws {
    try withIndex { index in
      var (one, other) = (Self.book(index), Self.book(index))
      one.add((0..<700).map { Self.key($0) })
      other.add((0..<600).map { Self.key($0) })
      other.add((600..<900).map { Self.key($0) })
      one.add((1000..<1100).map { Self.key($0) })
      let shown = { (book: NumberBook) in (0..<book.given.count).map { book.given[$0] } }
      #expect(shown(other) == Array(1...900))
      #expect(shown(one) == Array(1...700) + Array(901...1000))
      // A process that ends at any time has stored what it has shown.
      #expect(Self.numbers([1050, 650, 850, 2000], index) == [951, 651, 851, 1001])
    }
  }

  @Test func messageNumberIsPositionWithoutIndex() throws {
    #expect(Self.numbers(5..<20, nil) == Array(1...15))
    #expect(Self.numbers(5..<20, Index(folder: "/proc/none")) == Array(1...15))
  }

  /// A mailbox that is emptied and filled again has its numbers again. Of one that only changes, the oldest are forgotten.
  @Test func numbersOfRemovedMessagesAreKeptInProportion() throws {
    try withIndex { index in
      #expect(Self.numbers(0..<30_000, index, block: 10_000).last == 30_000)
      // Four times as many as there were at most, and some more.
      #expect(Self.numbers(30_000..<100_000, index, block: 10_000).last == 100_000)
      #expect(Self.numbers([5], index) == [6] && Self.numbers([7, 8], index) == [8, 9])
      #expect(Self.numbers([0, 99_999, 200_000], index) == [1, 100_000, 100_001])
    }
    try withIndex { index in
      // A thousand messages, all of which are replaced each time.
      for round in 0..<72 { _ = Self.numbers(1000 * round..<1000 * round + 1000, index, block: 1000) }
      #expect(Self.numbers([71_999, 0], index) == [72_000, 72_001])
    }
  }

  @Test func lostMessageNumbersRestart() throws {
    try withIndex { index in
      _ = Self.numbers(0..<10, index)
      var book = Self.book(index)
      book.add([Self.key(3)])
      _ = try index.forget(sourcesStartingWith: [])
      // What is shown goes on.
      book.add([Self.key(20), Self.key(4)])
      #expect((0..<3).map { book.given[$0] } == [4, 11, 5])
      #expect(Self.numbers([30, 20], index) == [12, 11])
      _ = try index.forget(sourcesStartingWith: [])
      #expect(Self.numbers([9, 8], index) == [1, 2])
    }
  }

  @Test func invalidNumberRecordsAreHarmless() throws {
    try withIndex { index in
      _ = Self.numbers(0..<1200, index)
      let source = IndexedFile.prefix(device: 7, inode: 8) + [0x6e, 0, 0, 0, 0, 0, 0, 0, 1]
      let records = index.records(of: source, NumberStore.kind, from: [0], through: [9])
      try #require(records.count == 4)
      var choices = SeededNumbers(seed: 3)
      for round in 0..<200 {
        let record = records[round % records.count]
        var value = record.value
        switch round % 4 {
        case 0: value = Array(value.prefix(Int(choices.next() % UInt64(value.count))))
        case 1: for _ in 0..<8 { value[Int(choices.next() % UInt64(value.count))] = UInt8(choices.next() & 0xff) }
        case 2: value = Array(value.prefix(8)) + Array(repeating: 0xff, count: value.count - 8)
        default: value += value
        }
        index.store([IndexRecord(key: record.key, value: value)], NumberStore.kind, of: source)
        let numbers = Self.numbers([600, 1300, 2, 1301], index)
        #expect(Set(numbers).count == 4 && numbers.allSatisfy { $0 > 0 }, "round \(round)")
        _ = try index.forget(sourcesStartingWith: [])
        index.store(records, NumberStore.kind, of: source)
      }
      #expect(Self.numbers(0..<1200, index) == Array(1...1200))
    }
  }

  /// A stored number that is not higher than the one before belongs to no second message.
  @Test func eachNumberIsTakenOnce() {
    for repeated in [5, 4, 1] as [UInt32] {
      var known = KnownNumbers(expecting: 4)
      known.append(5, Self.key(0))
      known.append(repeated, Self.key(1))
      known.append(6, Self.key(2))
      #expect(known.notTaken == [5, 6])
      #expect(known.take(exact: Self.key(1).exact) == nil && known.take(likely: Self.key(1).likely) == nil)
      #expect(known.take(exact: Self.key(0).exact) == 5 && known.take(exact: Self.key(2).exact) == 6)
      #expect(known.notTaken == [])
    }
  }

  @Test func positionsAreFoundByNumber() {
    var numbers = SeededNumbers(seed: 5)
    for isShuffled in [false, true] {
      var all = Array(1...40) + Array(100...300) + [400, 500]
      if isShuffled { all.shuffle(using: &numbers) }
      var serials = SerialNumbers()
      for isFinished in [false, true] {
        if !isFinished { for number in all { serials.append(UInt32(number)) } } else { serials.finish() }
        for number in 0...501 { #expect(serials.position(of: number) == all.firstIndex(of: number)) }
      }
      for count in [300, 243, 240, 41, 3, 0] {
        serials.cut(to: count)
        #expect((0..<serials.count).map { serials[$0] } == Array(all.prefix(count)))
        #expect(serials.position(of: 500) == all.prefix(count).firstIndex(of: 500))
      }
    }
  }
}
