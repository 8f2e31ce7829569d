import Bytes
import Mail
import TestSupport
import Testing

@testable import MailViews
@testable import Tree

@Suite struct MessageGroupsTests {
  private static func groups(_ names: [String]) -> MessageGroups {
    MessageGroups(list(names), names.indices.map { (group: UInt32($0), position: UInt32(10 + $0)) })
  }

  private static func list(_ names: [String]) -> NameList {
    var list = NameList()
    for name in names { _ = list.add(Array(name.utf8)[...]) }
    return list
  }

  private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

  /// The direct subfolders of a path, in the order of a listing.
  private static func folders(_ groups: MessageGroups, _ path: String) -> [String] {
    let depth = path.isEmpty ? 0 : path.utf8.count + 1
    var range = groups.below(Array(path.utf8)[...])
    if path.isEmpty, groups.group(named: []) == 0 { range = 1..<range.upperBound }
    var names: [String] = []
    while !range.isEmpty {
      let name = groups.component(of: range.lowerBound, behind: depth)
      names.append(text(name))
      range = groups.end(ofThoseSharing: depth + name.count, in: range)..<range.upperBound
    }
    return names
  }

  @Test func groupPathsBecomeDirectories() {
    let groups = Self.groups(["b/c", "a", "a!b", "a/b/c", "a/b", "a b", "ab", "a/b!", "b/c/d"])
    #expect(Self.folders(groups, "") == ["a", "a b", "a!b", "ab", "b"])
    #expect(Self.folders(groups, "a") == ["b", "b!"])
    #expect(Self.folders(groups, "a/b") == ["c"])
    #expect(Self.folders(groups, "b") == ["c"])
    #expect(Self.folders(groups, "b/c") == ["d"])
    #expect(Self.folders(groups, "a/b/c") == [] && Self.folders(groups, "x") == [])
    #expect(groups.group(named: Array("b".utf8)[...]) == nil)
    #expect(groups.group(named: Array("a/b".utf8)[...]).map { Array(groups.members($0)) } == [14])
  }

  /// Names of attachments in the index are valid file names.
  @Test func indexedAttachmentNamesAreValidFileNames() {
    let entry = AttachmentList.Entry(position: 3, number: 4, name: Array("a.pdf".utf8))
    var bytes: [UInt8] = []
    entry.append(to: &bytes)
    let read = AttachmentList.Entry.entries(in: bytes[...])
    #expect(read?.map(\.name) == [entry.name] && read?.first?.position == 3 && read?.first?.number == 4)
    for name in ["a\0b", "\0", "a/b", "/", "", ".", ".."] {
      var bytes: [UInt8] = []
      AttachmentList.Entry(position: 3, number: 4, name: Array(name.utf8)).append(to: &bytes)
      #expect(AttachmentList.Entry.entries(in: bytes[...]) == nil, "\(name)")
    }
    for count in 1..<bytes.count { #expect(AttachmentList.Entry.entries(in: bytes.prefix(count)) == nil) }
  }

  @Test func groupMembersKeepTheirOrder() {
    let groups = MessageGroups(
      Self.list(["b", "a"]), [(0, 1), (1, 2), (0, 5), (0, 9), (1, 10)] as [MessageGroups.Member])
    #expect((0..<2).map { Array(groups.members($0)) } == [[2, 10], [1, 5, 9]])
    #expect((0...10).filter { groups.contains($0, in: 1) } == [1, 5, 9])
    #expect(MessageGroups(single: []).count == 0)
    #expect(Array(MessageGroups(single: [3, 4]).members(0)) == [3, 4])
  }

  @Test func packedGroupsRoundTripAndRejectDamage() throws {
    let groups = Self.groups(["b/c", "a", "ü", "a/b/c"])
    let packed = groups.packed
    #expect(MessageGroups(packed: packed, messages: 14) == groups)
    #expect(MessageGroups(packed: packed, messages: 13) == nil)
    for count in 0..<packed.count { #expect(MessageGroups(packed: Array(packed[..<count]), messages: 14) == nil) }
    for place in packed.indices {
      var broken = packed
      broken[place] ^= 0x80
      // Whatever it contains then, accessing it stays within bounds.
      guard let odd = MessageGroups(packed: broken, messages: 14) else { continue }
      for group in 0..<odd.count { _ = (Array(odd.name(group)), Array(odd.members(group))) }
    }
  }

  /// A folder has the name of each component.
  @Test func indexedGroupNamesAreValidDirectoryNames() {
    func isRead(_ names: [String], _ components: ClosedRange<Int> = 0...(.max)) -> Bool {
      MessageGroups(packed: Self.groups(names).packed, messages: 20, components: components) != nil
    }
    let long = String(repeating: "x", count: 255)
    #expect(isRead(["a", ".a", "...", "a/b/c", "\(long)/\(long)", "ü ?"]))
    for name in [".", "..", "a/..", "./a", "/a", "a/", "a//b", "/", "a\0b", "a\n", long + "x", "a/\(long)x"] {
      #expect(!isRead(["a", name]), "\(name)")
    }
    #expect(isRead([""]) && isRead([""], 0...0) && !isRead([""], 1...1))
    #expect(isRead(["a/b", "a"], 1...2) && !isRead(["a/b"], 1...1) && !isRead(["a"], 0...0))
  }

  /// Of each sorting, what is made of messages is what is read back.
  @Test func groupsOfEverySortingRoundTrip() {
    var row = MessageRow(separator: 0, start: 0, end: 0)
    row.address = "a/b@example.com"
    row.labels = ["Work/A/B", ".a", "../x\n"]
    row.date = 1_714_804_200
    row.subject = "a/b\n.."
    row.isDeleted = true
    var builder = GroupsBuilder()
    var threads = ThreadsBuilder(expecting: 3)
    for labels in [row.labels, [], ["\0", "/"]] {
      row.labels = labels
      builder.add(row)
      threads.add(row)
      (row.address, row.date, row.subject) = ("", nil, "")
    }
    let byThread = threads.groups(dates: builder.facts.dates)
    for sorting in Sorting.ofRows + [.thread] {
      let groups = sorting == .thread ? byThread : builder.take(sorting)
      #expect(groups.count > 0)
      let read = MessageGroups(packed: groups.packed, messages: 3, components: sorting.components)
      #expect(read == groups, "\(sorting)")
    }
  }

  /// The index may hold attachments of messages that it has no senders of.
  @Test func attachmentsWithoutSenderAreUnderUnknownSender() throws {
    var list = AttachmentList()
    let places: [UInt32] = [0, 1, 9]
    list.add(
      AttachmentStore.Block(
        shapes: [.attachments, .attachments],
        entries: places.map { AttachmentList.Entry(position: $0, number: 0, name: Array("\($0).pdf".utf8)) }))
    for (senders, names) in [([], ["unknown sender"]), (["b"], ["b", "unknown sender"])] {
      let known = MessageGroups(Self.list(senders), senders.indices.map { (group: UInt32($0), position: UInt32($0)) })
      let groups = try AttachmentSorting.sender.groups(list) { () throws(Fault) in known }
      #expect((0..<groups.count).map { Self.text(groups.name($0)) } == names)
    }
  }

  @Test func messageRowsAreSortedIntoGroups() {
    func row(_ change: (inout MessageRow) -> Void) -> MessageRow {
      var row = MessageRow(separator: 0, start: 0, end: 0)
      change(&row)
      return row
    }
    var builder = GroupsBuilder()
    builder.add(
      row {
        $0.address = "Anna@Example.com"
        $0.date = 1_714_804_200
        $0.zone = -420
        $0.labels = ["Work/A", "Inbox", "Work/A", "//", "000001 2024-05-03 x", "../.."]
      })
    builder.add(row { $0.sender = "No Address" })
    builder.add(
      row {
        $0.isDeleted = true
        $0.address = "anna@example.COM"
        $0.date = .max
      })
    func names(_ sorting: Sorting) -> [String] {
      let groups = builder.take(sorting)
      return (0..<groups.count).map {
        "\(Self.text(groups.name($0))) \(groups.members($0).map(String.init).joined(separator: ","))"
      }
    }
    #expect(names(.date) == ["2024/05 0", "undated 1,2"])
    #expect(names(.sender) == ["No Address 1", "anna@example.com 0,2"])
    #expect(names(.label) == ["?/? 0", "Inbox 0", "Work/A 0", "label 000001 2024-05-03 x 0"])
    #expect(names(.deleted) == [" 2"])
  }

  @Test func threadsOfTheSameSubjectAreNumbered() {
    let subjects = ["Plan", "", "Plan (1)", "Re: Plan", "plan", "Plan", "a/b", "Plan"]
    let rows = subjects.enumerated().map { index, subject in
      var row = MessageRow(separator: 0, start: 0, end: 0)
      row.subject = subject
      // The fourth replies to the first.
      row.messageID = index == 3 ? 99 : UInt64(index + 1)
      row.references = index == 3 ? [1] : []
      return row
    }
    var finder = ThreadFinder()
    for row in rows { finder.add(row) }
    var names = ThreadNames(finder.takeThreads(dates: (0..<8).map(Int64.init)))
    for (position, row) in rows.enumerated() {
      names.add(at: position) { ThreadNames.name(of: BaseSubject(row.subject))[...] }
    }
    let groups = names.groups()
    let found = (0..<groups.count).map {
      "\(Self.text(groups.name($0))): \(groups.members($0).map(String.init).joined(separator: ","))"
    }
    #expect(
      found == ["Plan: 0,3", "Plan (1): 2", "Plan (2): 5", "Plan (3): 7", "a-b: 6", "no subject: 1", "plan: 4"])
  }

  @Test func attachmentNamesIncludeDateAndSender() throws {
    var row = MessageRow(separator: 0, start: 0, end: 0)
    row.sender = "Example/Sender"
    row.date = 1_714_730_400
    func entry(_ name: String, _ position: Int = 0) -> AttachmentList.Entry {
      AttachmentList.Entry(row, at: position, 2, FileName(name))
    }
    let long = entry(String(repeating: "ü", count: 125) + ".tar.gz")
    #expect(entry("a.pdf").name == Array("2024-05-03 Example-Sender - a.pdf".utf8))
    #expect(long.name.count <= 255 && Self.text(long.name).hasSuffix("ü.tar.gz"))
    var bytes: [UInt8] = []
    let entries = [entry("a.pdf"), long, entry("a.pdf", 70_000)]
    for entry in entries { entry.append(to: &bytes) }
    #expect(AttachmentList.Entry.entries(in: bytes[...]) == entries)
    #expect(AttachmentList.Entry.entries(in: bytes.dropLast()) == nil)
    var list = AttachmentList()
    list.add(AttachmentStore.Block(shapes: [.attachments], entries: entries))
    #expect(
      [0, 2].map { Self.text(list.name($0)) } == [
        "2024-05-03 Example-Sender - a.pdf", "2024-05-03 Example-Sender - a (1).pdf",
      ])
    #expect(list.index(named: "2024-05-03 Example-Sender - a (1).pdf").map { list.place($0).position } == 70_000)
    #expect(list.messages == [0, 70_000])
  }
}
