import Bytes
import Mail
import TestSupport
import Testing

@testable import MailViews
@testable import Tree

@Suite struct ThreadsBuilderTests {
  /// As for a large mailbox: the threads first, then their names.
  private static func inTwoPasses(_ rows: [MessageRow]) -> MessageGroups {
    var finder = ThreadFinder(expecting: rows.count)
    for row in rows { finder.add(row) }
    var names = ThreadNames(finder.takeThreads(dates: dates(rows)))
    for (position, row) in rows.enumerated() {
      names.add(at: position) { ThreadNames.name(of: BaseSubject(row.subject))[...] }
    }
    return names.groups()
  }

  private static func inOnePass(_ rows: [MessageRow]) -> MessageGroups {
    var builder = ThreadsBuilder(expecting: rows.count)
    for row in rows { builder.add(row) }
    return builder.groups(dates: dates(rows))
  }

  private static func dates(_ rows: [MessageRow]) -> [Int64] { rows.map { $0.date ?? .min } }

  private static func row(_ subject: String, id: UInt64?, to references: [UInt64] = [], at date: Int64?) -> MessageRow {
    var row = MessageRow(separator: 0, start: 0, end: 0)
    (row.subject, row.messageID, row.references, row.date) = (subject, id, references, date)
    return row
  }

  private static func text(_ groups: MessageGroups) -> [String] {
    (0..<groups.count).map {
      "\(String(decoding: groups.name($0), as: UTF8.self)): \(groups.members($0).map(String.init).joined(separator: ","))"
    }
  }

  /// A thread has the name of its oldest message, wherever that is.
  @Test func threadIsNamedAfterItsOldestMessage() {
    let rows = [
      Self.row("Re: Plan", id: 2, to: [1], at: 20), Self.row("Plan", id: 1, at: 10),
      Self.row("Other", id: 3, to: [2], at: 5), Self.row("Plan", id: 4, at: nil),
      Self.row("plan", id: 5, at: 1), Self.row("", id: nil, at: 3),
    ]
    #expect(Self.text(Self.inOnePass(rows)) == ["Other: 0,1,2", "Plan: 3", "no subject: 5", "plan: 4"])
    #expect(Self.inOnePass(rows) == Self.inTwoPasses(rows))
  }

  @Test func noMessagesYieldNoGroups() { #expect(Self.inOnePass([]).count == 0) }

  @Test(arguments: UInt64(0)..<60) func onePassGroupingMatchesTwoPasses(_ seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    let subjects = ["Plan", "Re: Plan", "plan", "Plan (1)", "Fwd: a/b", "", "Re:", "..", "ü", "Plan (1) (1)"]
    let rows = (0..<numbers.below(200)).map { _ in
      var row = Self.row(
        subjects[numbers.below(subjects.count)], id: numbers.below(8) == 0 ? nil : UInt64(1 + numbers.below(150)),
        to: (0..<numbers.below(3)).map { _ in UInt64(1 + numbers.below(150)) },
        at: numbers.below(6) == 0 ? nil : Int64(numbers.below(50)))
      if numbers.below(10) == 0 { row.thread = UInt64(numbers.below(4)) }
      return row
    }
    let (one, two) = (Self.inOnePass(rows), Self.inTwoPasses(rows))
    #expect(Self.text(one) == Self.text(two))
    #expect((0..<one.count).flatMap { one.members($0) }.sorted() == rows.indices.map { UInt32($0) })
  }
}
