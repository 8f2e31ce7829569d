import Files
import Glibc
import TestSupport
import Testing

/// The journal of two processes of a mount, the second of which takes over from the first.
@Suite struct ChangeJournalTests {
  private func withJournals(_ body: (_ first: ChangeJournal, _ second: ChangeJournal) throws -> Void) throws {
    let folder = try SourceFolder()
    let raw = unsafe open(folder.path + "/journal", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(raw >= 0)
    let file = Descriptor(owning: raw)
    try body(ChangeJournal(file, at: 0, ordinal: 0), ChangeJournal(file, at: 0, ordinal: 1))
  }

  @Test func nextProcessSeesHowFarAChangeWas() throws {
    try withJournals { first, second in
      let (mine, next) = (try #require(first.record(7)), try #require(second.record(7)))
      #expect(mine.inherited == nil && next.inherited == nil)
      mine.begin(11, 12)
      // Only an earlier process's record is inherited.
      #expect(mine.inherited == nil)
      let begun = try #require(next.inherited)
      #expect((begun.isDone, begun.first, begun.second) == (false, 11, 12))
      mine.finish(13)
      let done = try #require(next.inherited)
      #expect((done.isDone, done.first, done.second, done.result) == (true, 11, 12, 13))
      // A neighbour has a record of its own.
      #expect(second.record(6)?.inherited == nil && second.record(8)?.inherited == nil)
      next.begin(21, 22)
      #expect(next.inherited == nil)
    }
  }

  @Test func clearedRecordIsNotInherited() throws {
    try withJournals { first, second in
      first.record(3)?.begin(1)
      first.clear(3)
      #expect(second.record(3)?.inherited == nil && second.answer(3) == nil)
    }
  }

  @Test func answerIsResentOnlyAfterItWasRecorded() throws {
    try withJournals { first, second in
      let record = try #require(first.record(0))
      record.begin()
      #expect(second.answer(0) == nil)
      record.finish(5)
      #expect(second.answer(0) == nil)
      first.setAnswer(0, error: -ENOENT, [1, 2, 3])
      let answer = try #require(second.answer(0))
      #expect(answer.error == -ENOENT && answer.bytes == [1, 2, 3])
      // The next request of the slot.
      record.begin()
      #expect(second.answer(0) == nil)
      record.interrupt()
      #expect(second.answer(0)?.error == EINTR && second.answer(0)?.bytes == [])
    }
  }

  @Test func longAnswerIsNotRecordedAndNotMixed() throws {
    try withJournals { first, second in
      let bytes = (0..<ChangeJournal.mostBytes).map { UInt8(truncatingIfNeeded: $0) }
      first.setAnswer(1, error: 0, bytes)
      #expect(second.answer(1)?.bytes == bytes && second.answer(2) == nil)
      first.record(1)?.begin()
      first.setAnswer(1, error: 0, bytes + [0])
      #expect(second.answer(1) == nil && second.answer(2) == nil)
    }
  }

  @Test func slotsOutsideAreRefused() throws {
    try withJournals { first, _ in
      #expect(first.record(-1) == nil && first.record(8192) == nil && first.record(8191) != nil)
    }
  }
}
