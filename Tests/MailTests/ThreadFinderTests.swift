import Bytes
import TestSupport
import Testing

@testable import Mail

@Suite struct ThreadFinderTests {
  /// A message of a mailbox, with the fields that threads are built from.
  struct Mail {
    var id: String?
    var references: [String] = []
    var subject = ""
    var date: Int64?
    var thread: UInt64?

    var row: MessageRow {
      func hash(_ id: String) -> UInt64 { MessageRow.hash(ofID: Array(id.utf8)[...]) }
      var row = MessageRow(separator: 0, start: 0, end: 0)
      row.messageID = id.map(hash)
      row.references = references.map(hash)
      row.subject = subject
      row.date = date
      row.thread = thread
      return row
    }
  }

  /// The subjects of the threads, in order.
  static func subjects(_ found: ThreadFinder.Threads, _ mails: [Mail]) -> [String] {
    found.oldest.map { BaseSubject(mails[Int($0)].subject).text }
  }

  static func threads(_ mails: [Mail]) -> ThreadFinder.Threads {
    var finder = ThreadFinder()
    for mail in mails { finder.add(mail.row) }
    return finder.takeThreads(dates: mails.map { $0.date ?? .min })
  }

  @Test func repliesFollowTheirReferences() {
    let mails = [
      Mail(id: "a", subject: "One"), Mail(id: "b", subject: "Two"),
      Mail(id: "c", references: ["b"], subject: "Re: Two"),
      Mail(id: "d", references: ["a", "lost"], subject: "Re: One"),
      Mail(id: "e", references: ["lost"], subject: "Other"),
    ]
    let found = Self.threads(mails)
    #expect(found.numbers == [0, 1, 1, 0, 0])
    #expect(Self.subjects(found, mails) == ["One", "Two"])
  }

  @Test func threadsAreIndependentOfMessageOrder() {
    let mails = [
      Mail(id: "a", subject: "x"), Mail(id: "b", references: ["a"]), Mail(id: "c", references: ["a", "b"]),
      Mail(id: "d", references: ["c"]),
    ]
    for shift in 0..<4 {
      let turned = Array(mails[shift...] + mails[..<shift])
      #expect(Set(Self.threads(turned).numbers) == [0])
    }
  }

  /// A message's own references take precedence over those of others to it.
  @Test func ownReferencesTakePrecedence() {
    let found = Self.threads([
      Mail(id: "x"), Mail(id: "y"), Mail(id: "liar", references: ["x", "b"]), Mail(id: "b", references: ["y"]),
    ])
    #expect(found.numbers == [0, 1, 1, 1])
  }

  @Test func cyclicReferencesFormOneThread() {
    #expect(Self.threads([Mail(id: "a", references: ["a"])]).numbers == [0])
    let ring = (0..<1000).map { Mail(id: "\($0)", references: ["\(($0 + 1) % 1000)"]) }
    #expect(Set(Self.threads(ring).numbers) == [0])
    let knot = [Mail(id: "a", references: ["b", "a", "b"]), Mail(id: "b", references: ["a", "b", "a"])]
    #expect(Set(Self.threads(knot).numbers) == [0])
  }

  @Test func messagesWithSameIDShareThread() {
    #expect(Self.threads([Mail(id: "a"), Mail(id: "a"), Mail(id: "b", references: ["a"])]).numbers == [0, 0, 0])
    #expect(Self.threads([Mail(), Mail(), Mail()]).numbers == [0, 1, 2])
  }

  @Test func threadOfFiftyThousandMessagesIsFound() {
    // Each refers only to the one before, in reverse order: the deepest possible tree.
    let mails = (0..<50_000).reversed().map {
      Mail(id: "\($0)", references: $0 > 0 ? ["\($0 - 1)"] : [], subject: "n\($0)", date: Int64($0))
    }
    let found = Self.threads(mails)
    #expect(Set(found.numbers) == [0])
    #expect(Self.subjects(found, mails) == ["n0"])
  }

  @Test func repliesWithoutReferencesAreMatchedBySubject() {
    let mails = [
      Mail(id: "a", subject: "Plan", date: 10), Mail(id: "b", subject: "Plan", date: 20),
      Mail(id: "c", subject: "Re: [list] plan", date: 25), Mail(id: "d", subject: "AW: Plan", date: 15),
      Mail(id: "e", subject: "Re: Plan", date: 5), Mail(id: "f", subject: "Re: alone", date: 1),
      Mail(id: "g", subject: "Fwd: Re: Alone", date: 2), Mail(id: "h", subject: "Re:", date: 3),
      Mail(id: "i", subject: "Re:", date: 4),
    ]
    let found = Self.threads(mails)
    #expect(found.numbers == [0, 1, 1, 0, 0, 2, 2, 3, 4])
    #expect(Self.subjects(found, mails) == ["Plan", "Plan", "alone", "", ""])
  }

  @Test func replyOfTheSameSecondJoinsItsOriginal() {
    let found = Self.threads([
      Mail(id: "a", subject: "Plan", date: 10), Mail(id: "b", subject: "Plan", date: 20),
      Mail(id: "c", subject: "Re: Plan", date: 20),
    ])
    #expect(found.numbers == [0, 1, 1])
  }

  @Test func gmailThreadIDsTakePrecedence() {
    let found = Self.threads([
      Mail(id: "a", subject: "x", thread: 1), Mail(id: "b", references: ["a"], subject: "Re: x", thread: 2),
      Mail(id: "c", subject: "y", thread: 1), Mail(id: "d", references: ["b", "a"], subject: "Re: x"),
      Mail(id: "e", references: ["a", "b"], subject: "Re: x"),
    ])
    #expect(found.numbers == [0, 1, 0, 0, 1])
  }

  @Test func emptyMailboxHasNoThreads() {
    let found = Self.threads([])
    #expect(found.numbers.isEmpty && found.oldest.isEmpty)
  }

  static let subjects: [(String, String, Bool)] = [
    ("Plan", "Plan", false), ("Re: Plan", "Plan", true), ("RE : re[2]:  Plan  b", "Plan b", true),
    ("[list] Re: [list] Plan", "Plan", true), ("[list]", "[list]", false), ("[a] [b]", "[b]", false),
    ("Plan (fwd) (FWD)", "Plan", true), ("[Fwd: Re: Plan]", "Plan", true), ("Aw: WG: Plan", "Plan", true),
    ("Regarding: x", "Regarding: x", false), ("re", "re", false), ("Re:", "", true), ("", "", false), ("[", "[", false),
    ("re [x", "re [x", false), ("Fwd: [Fwd: x]", "x", true), ("\t a\n b ", "a b", false), ("Réf: ü", "Réf: ü", false),
    ("[[x]] y", "[[x]] y", false), ("(fwd)", "", true), ("Re: Re", "Re", true),
  ]

  @Test(arguments: subjects) func baseSubjectOmitsPrefixes(_ subject: String, _ base: String, _ isReply: Bool) {
    let found = BaseSubject(subject)
    #expect(found.text == base)
    #expect(found.isReply == isReply)
  }

  static let replies = [
    "Antw", "Odp", "RIF", "R", "RES", "ENC", "TR", "RV", "YNT", "ИНА", "Отв", "回复", "答复", "转发", "返信", "답장", "ΑΠ",
    "Vá", "Re[2]", "Re(3)", "Re^2", "Re2",
  ]

  @Test(arguments: replies) func localizedReplyPrefixesAreRecognized(_ mark: String) {
    for colon in [":", " :", "：", ": RE："] {
      let found = BaseSubject("\(mark)\(colon) Hello: there")
      #expect(found.text == "Hello: there" && found.isReply, "\(mark)\(colon)")
    }
    #expect(!BaseSubject("\(mark) Hello").isReply)
  }

  /// Any subject is parsed, in linear time.
  @Test func anySubjectIsParsedInLinearTime() {
    var numbers = SeededNumbers(seed: 5)
    let pieces = ["re", ":", "[", "]", " ", "fwd", "(fwd)", "[fwd:", "x", "ü", "Re: ", "[a]"]
    for _ in 0..<3000 {
      let subject = (0..<12).map { _ in pieces[Int(numbers.next() % UInt64(pieces.count))] }.joined()
      let base = BaseSubject(subject)
      #expect(base.text.utf8.count <= subject.utf8.count)
      #expect(BaseSubject(base.text).text == base.text, "\(subject)")
    }
    #expect(BaseSubject(String(repeating: "[fwd: ", count: 100_000)).text.utf8.count < 600_000)
    #expect(BaseSubject(String(repeating: "re:", count: 100_000)).text == "")
  }

  @Test func duplicateNamesGetSuffixes() {
    var names = UniqueNames()
    let given = ["a.tar.gz", "a.tar.gz", "a (1).tar.gz", "a.tar.gz", "b", "b"].map {
      names.unique(Array($0.utf8)[...]).text
    }
    #expect(given == ["a.tar.gz", "a (1).tar.gz", "a (1) (1).tar.gz", "a (2).tar.gz", "b", "b (1)"])
  }
}
