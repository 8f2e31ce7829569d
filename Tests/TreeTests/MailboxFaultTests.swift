import Bytes
import Mail
import Synchronization
import TestSupport
import Testing

@testable import MailViews
@testable import Tree

/// A mailbox in a file whose reads fail for a while.
@Suite(.timeLimit(.minutes(5))) struct MailboxFaultTests {
  /// EIO.
  private static let refused = Fault(.system(5), "read")

  private final class FlakyFile: Item {
    let bytes: ByteArraySource
    let isBroken = Atomic<Bool>(true)
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
        offset > 300_000 && isBroken.load(ordering: .relaxed) ? MailboxFaultTests.refused : nil
      }
    }
  }

  private static func names(_ folder: MailboxFolder) throws -> [String] {
    let listing = try folder.listing(.blocking)
    var names: [String] = []
    var place: Int64 = 0
    while let entries = try? listing.entries(after: place, .blocking), let last = entries.last {
      names += entries.map(\.name.fileName.text)
      place = last.next
    }
    return names
  }

  @Test func failedMailboxReadsAreRetried() throws {
    let message =
      "From - Mon Jan  1 00:00:00 2018\nFrom: a@example.com\nSubject: x\n\n\(String(repeating: "x", count: 900))\n\n"
    let file = FlakyFile(String(repeating: message, count: 2000))
    let node = Node(id: 1, generation: 1, parent: nil, name: "", item: file, depth: 0, face: .none)
    let source = Source(item: file, attributes: try file.attributes(.blocking), name: "a.mbox", folder: node)
    let mailboxes = Mailboxes(index: nil)
    let mailbox = mailboxes.mailbox(of: source)
    let folder = MailboxFolder(mailbox, mailboxes.messages)
    let numberer = OrderedNumberer(nil)
    for _ in 0..<2 {
      #expect(throws: Self.refused) { try numberer.find(.blocking, { _ in nil }, in: mailbox) }
      #expect((200..<1000).contains(try Self.names(folder).count))
      #expect(mailbox.fault == Self.refused)
    }
    file.isBroken.store(false, ordering: .relaxed)
    let names = try Self.names(folder)
    #expect(names.count == 2000 && mailbox.fault == nil)
    #expect(names.last == "002000 2018-01-01 a@example.com - x")
    for position in [0, 400, 511, 512, 1999] { #expect(try mailbox.row(at: position, .blocking)?.subject == "x") }
    #expect(try mailbox.row(at: 2000, .blocking) == nil)
    #expect(try numberer.find(.blocking, { $0.count == 2000 ? 1999 : nil }, in: mailbox) == 1999)
    mailboxes.stop()
  }
}
