import Bytes
import Index
import Mail
import Synchronization
import TestSupport
import Testing
import Threads

@testable import MailViews
@testable import Tree

/// The listing of a query's folder while words are being added, or cannot be.
@Suite(.timeLimit(.minutes(5))) struct SearchWaitTests {
  private static let count = 40

  private static let messages = (0..<count).map { number in
    """
    From - Mon Jan  1 00:00:00 2018
    From: Anna \(number) <anna@example.com>
    To: bob@example.org
    Date: \(1 + number % 28) May 2024 12:00:00 +0000
    Subject: about \(number)

    a needle\(number % 2 == 0 ? " and thread" : "")


    """
  }

  /// A mailbox whose reads from an offset on can be blocked.
  private final class OpenFileDescription: Item {
    let bytes: ByteArraySource
    /// The offset from which reads block.
    let held = Monitor(Int64.max)
    var inode: UInt64 { 7 }
    var kind: Kind { .file }
    var isImmutable: Bool { true }

    init(_ text: String) { bytes = ByteArraySource(Array(text.utf8)) }

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
      Attributes(
        inode: 7, kind: .file, permissions: 0o644, links: 1, owner: 0, group: 0, size: bytes.size, allocated: 0,
        accessed: Timestamp(seconds: 0), modified: Timestamp(seconds: 0), changed: Timestamp(seconds: 0))
    }

    func accessList() throws(Fault) -> AccessList? { nil }

    func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
      FailingSource(bytes) { [self] _, offset in
        do throws(Fault) {
          try held.wait { offset < $0 ? () : nil }
          return nil
        } catch { return error }
      }
    }
  }

  private final class Setup: Sendable {
    let file = OpenFileDescription(SearchWaitTests.messages.joined())
    let mailboxes: Mailboxes
    let sorted: SortedMailbox

    init(blocking: Duration, index: Index? = nil, batchSize: Int = 1) throws {
      let node = Node(id: 1, generation: 1, parent: nil, name: "", item: file, depth: 0, face: .none)
      let source = Source(item: file, attributes: try file.attributes(.blocking), name: "a.mbox", folder: node)
      let pace = Mailboxes.Pace(blocking: blocking, batchSize: batchSize)
      mailboxes = Mailboxes(index: index, pace: pace)
      sorted = mailboxes.sorted(mailboxes.mailbox(of: source))
      #expect(try sorted.mailbox.count(.blocking) == SearchWaitTests.count)
    }

    deinit { mailboxes.stop() }

    func folder(_ query: String) -> QueryFolder { QueryFolder(sorted, FileName(query)) }

    /// The names in a query's folder, in the order of its listing.
    func list(_ query: String) throws -> [String] {
      let listing = try folder(query).listing(.blocking)
      var names: [String] = []
      var place: Int64 = 0
      while let last = try listing.entries(after: place, .blocking).last {
        names += try listing.entries(after: place, .blocking).map(\.name.fileName.text)
        place = last.next
      }
      return names
    }

    func attribute(_ name: String, _ query: String) throws -> String {
      String(decoding: try folder(query).extendedAttribute(FileName(name), .blocking), as: UTF8.self)
    }
  }

  @Test func incompleteResultsStartWithANotice() throws {
    let setup = try Setup(blocking: .milliseconds(50))
    let start = Self.messages[..<20].reduce(0) { $0 + $1.utf8.count }
    setup.file.held.update { $0 = Int64(start) }
    let half = "INCOMPLETE - 50 % searched.txt"
    var names: [String] = []
    for _ in 0..<400 where names.first != half {
      let before = names.count
      names = try setup.list("needle")
      #expect(names.count >= before && names.first?.hasPrefix("INCOMPLETE - ") == true)
    }
    // Newest first, of the first half.
    #expect(names.first == half && names.count == 21 && names.dropFirst().allSatisfy { $0 < "000021" })
    let folder = setup.folder("needle")
    let notice = try #require(try folder.child(named: FileName(half), .blocking))
    let text = try notice.item.open(pinned: false, .blocking).bytes(at: 0, count: Int(notice.attributes.size))
    #expect(String(decoding: text, as: UTF8.self).contains("50 % of the messages"))
    #expect(try folder.child(named: "INCOMPLETE - 050 % searched.txt", .blocking) == nil)
    #expect(try folder.child(named: FileName(names[1]), .blocking) != nil)
    #expect(try setup.attribute("user.ffmount.searched", "needle") == "20 of 40 messages")
    // Whether a message lacks something is unknown until it is searched.
    #expect(try setup.list("-thread").count == 11)
    setup.file.held.update { $0 = .max }
    for _ in 0..<400 where names.first?.hasPrefix("INCOMPLETE") == true { names = try setup.list("needle") }
    #expect(names.count == Self.count)
    #expect(try folder.child(named: FileName(half), .blocking) == nil)
  }

  @Test func queriesWithoutWordsDoNotWaitForTheIndex() throws {
    let setup = try Setup(blocking: .seconds(50))
    let end = Monitor(false)
    setup.mailboxes.words.submit { try? end.wait { $0 ? () : nil } }
    defer { end.update { $0 = true } }
    for (query, count) in [
      ("from:anna", 40), ("from:7", 1), ("subject:\"about 31\"", 1), ("to:bob -from:7", 39), ("cc:bob@example.org", 40),
      ("date:2024-05-01", 2), ("larger:1M", 0), ("from:anna before:2024-05-02", 2), ("has:attachment", 0),
      ("-has:attachment", 40), ("(subject:3 OR subject:4) from:4", 1), ("from:nobody", 0),
    ] {
      #expect(try setup.list(query).count == count, "\(query)")
    }
    #expect(setup.sorted.search.words.reach.messages == 0)
  }

  @Test func attachmentQueriesWaitForTheAttachmentScan() throws {
    let setup = try Setup(blocking: .milliseconds(50))
    setup.file.held.update { $0 = 0 }
    #expect(try setup.list("-has:attachment") == ["INCOMPLETE - 0 % searched.txt"])
    setup.file.held.update { $0 = .max }
    var names: [String] = []
    for _ in 0..<400 where names.count != Self.count { names = try setup.list("-has:attachment") }
    #expect(names.count == Self.count)
  }

  @Test(arguments: [nil, "/proc/none"]) func wordsAreFoundWithoutPersistentIndex(_ folder: String?) throws {
    let setup = try Setup(blocking: .seconds(50), index: Index(folder: folder), batchSize: 16 << 20)
    #expect(try setup.list("needle").count == Self.count && setup.list("thread").count == Self.count / 2)
    #expect(!setup.sorted.search.words.reach.isKept)
  }

  /// An interrupted caller returns at once, and work done only for it ends soon.
  @Test func interruptedSearchReturnsImmediately() async throws {
    let setup = try Setup(blocking: .seconds(50))
    setup.file.held.update { $0 = 0 }
    let end = ContinuousClock.now + .milliseconds(100)
    let interest = CancellationToken { .now < end }
    let fault = await offThread { () -> Fault? in
      interest.run {
        do throws(Fault) {
          _ = try setup.folder("needle").listing(.blocking)
          return nil
        } catch { return error }
      }
    }
    #expect(fault?.kind == .interrupted)
  }

  @Test func excessSearchWaitersAreAnsweredImmediately() throws {
    let waiters = SearchWaiters()
    func wait(_ depth: Int) throws(Fault) -> [Bool] {
      try waiters.waits { (mayWait) throws(Fault) in [mayWait] + (depth == 0 ? [] : try wait(depth - 1)) }
    }
    #expect(try wait(69) == (0..<70).map { $0 < 64 })
    #expect(try wait(0) == [true])
  }
}
