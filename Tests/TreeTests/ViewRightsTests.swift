import AllViews
import Bytes
import Catalogue
import Jobs
import Synchronization
import TestSupport
import Testing

@testable import ArchiveViews
@testable import FindViews
@testable import MailViews
@testable import RenditionViews
@testable import TableViews
@testable import Tree

/// The access rights of every existing and future view with regard to its sources.
@Suite struct ViewRightsTests {
  /// The sources of a view.
  private enum Sources { case oneFile, manyFiles, oneFileOrItsParts, manyForEachUser }

  /// A new view must be entered here with its sources. A view with several sources takes its rights from
  /// `CommonRights`.
  private static let table: [String: Sources] = [
    "ContentsView": .oneFileOrItsParts, "DeletedView": .oneFile, "MessagesView": .oneFile, "MailViewsView": .oneFile,
    "MessageView": .oneFile,
    "TableView": .oneFile, "PagesView": .oneFile, "CompressedView": .oneFile, "RenditionView": .oneFile,
    "WholeView": .oneFile, "FolderDocumentView": .manyFiles, "ScannedFolderView": .oneFile, "TilesView": .oneFile,
    "SheetsView": .oneFile, "FolderMessagesView": .manyFiles, "FolderMailView": .manyFiles,
    "StreamsView": .oneFile, "FramesView": .oneFile, "SegmentsView": .oneFile, "RecordView": .oneFile,
    "SumsView": .manyFiles, "SearchView": .manyForEachUser, "SavedSearchView": .manyForEachUser,
  ]

  private static func views() -> [any View] {
    let conversions = Conversions(
      ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/tmp")
    return Views(conversions: conversions, searches: .described).all
  }

  /// A file or folder that records whether anything but its attributes was requested.
  private final class Thing: Item {
    let inode: UInt64
    let kind: Kind
    var isImmutable: Bool { false }
    private let shown: Attributes
    private let list: AccessList?
    private let content: [UInt8]
    let members: [(name: FileName, thing: Thing)]
    let questions = Atomic<Int>(0)

    init(
      _ kind: Kind = .file, _ permissions: UInt16, owner: UInt32 = 1, group: UInt32 = 1, list: AccessList? = nil,
      inode: UInt64 = 1, members: [(name: FileName, thing: Thing)] = [], content: [UInt8] = [1, 2, 3]
    ) {
      (self.kind, self.inode, self.list, self.members, self.content) = (kind, inode, list, members, content)
      let time = Timestamp(seconds: 1)
      shown = Attributes(
        inode: inode, kind: kind, permissions: permissions, links: 1, owner: owner, group: group, size: 1000,
        allocated: 0, accessed: time, modified: time, changed: time)
    }

    private func note() { questions.add(1, ordering: .relaxed) }

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { shown }
    func accessList() throws(Fault) -> AccessList? { list }
    func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
      note()
      return ByteArraySource(content)
    }
    func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
      note()
      return try members.first { $0.name == name }.map { (member) throws(Fault) in
        LookupResult(member.thing, try member.thing.attributes(blocking))
      }
    }
    func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
      note()
      return IndexedCursor(members.map { ($0.name, $0.thing.inode, $0.thing.kind) })
    }
    func revision(_ attributes: Attributes) -> UInt64 { inode }
  }

  private static func source(
    _ thing: Thing, _ name: FileName, isConcealed: Bool = false, in folder: Thing = Thing(.folder, 0o755)
  ) throws -> Source {
    let node = Node(id: 2, generation: 0, parent: nil, name: "", item: folder, depth: 0, face: .none)
    return Source(
      item: thing, attributes: try thing.attributes(.blocking), name: name, folder: node, isConcealed: isConcealed)
  }

  /// Names that a view matches; the first one is for a file with a recognizable signature.
  private static func names(_ view: any View) -> [FileName] {
    switch "\(type(of: view))" {
    case "TableView": view.name == "as-csv" ? ["x.vcf", "y.vcard"] : ["x.csv", "y.tsv"]
    case "CompressedView": ["x.pdf"]
    case "DeletedView": ["x.ntfs"]
    case "WholeView":
      [
        ["x.pdf", "x.png", "x.mp3"].first { name in
          (view as? WholeView)?.conversion.sources.contains { $0.extensions.contains(name.fileExtension ?? "") }
            ?? false
        } ?? "x"
      ]
    case "TilesView": ["x.png"]
    case "FramesView", "SegmentsView": ["x.mkv"]
    case "SheetsView": ["x.xlsx"]
    default:
      [view.listedExtensions.map { FileName("x.\($0.text)") }.first { view.isListed(beside: $0) } ?? "x", "x.dat", "x"]
    }
  }

  @Test func permissionTableCoversEveryView() {
    #expect(Set(Views.types.map { "\($0)" }) == Set(Self.table.keys))
    #expect(Set(Self.views().map { "\(type(of: $0))" }) == Set(Self.table.keys))
  }

  @Test func viewOfUnreadableSourceUsesOnlyAttributes() throws {
    for view in Self.views() {
      for name in Self.names(view) {
        var told: [(Attributes, UInt64)] = []
        for _ in 0..<2 {
          let thing = Thing(view.sourceKind, 0o700)
          let request = view.listedRequest(beside: name)
          let found = try view.item(of: Self.source(thing, name, isConcealed: true), request, .immediate)
          let item = try #require(found?.item, "\(view.name) of \(name.text)")
          told.append((try item.attributes(.immediate), item.inode))
          #expect(thing.questions.load(ordering: .relaxed) == 0, "\(view.name) of \(name.text)")
        }
        #expect(told[0].0.size == told[1].0.size && told[0].1 == told[1].1)
      }
    }
  }

  @Test func noticeOfASearchIsForItsUserAlone() throws {
    let list = try AccessList([2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 9, 0, 0, 0])
    let file = SourceState(try Self.source(Thing(.folder, 0o755, list: list), "d"))
    func notice(_ owner: (user: UInt32, group: UInt32)?) -> SearchNotice {
      SearchNotice(
        SearchNotice.Subject(things: "messages", argument: "d"), percent: 5, of: file, view: "search", inode: 9,
        owner: owner)
    }
    let own = try notice((7, 8)).attributes(.immediate)
    #expect(own.permissions == 0o400 && own.owner == 7 && own.group == 8)
    #expect(try notice((7, 8)).accessList() == nil)
    let common = try notice(nil).attributes(.immediate)
    #expect(common.permissions == 0o644 && common.owner == 1 && common.group == 1)
    #expect(try notice(nil).accessList() != nil)
    #expect(Set([notice(nil), notice((7, 8)), notice((7, 9)), notice((8, 8))].map(\.identity)).count == 4)
  }

  private final class Shared: Sendable {
    let file: SourceState
    init(_ file: SourceState) { self.file = file }
  }

  /// The first caller's permissions do not decide for the others.
  @Test func valueThatUsersShareIsNotConcealed() throws {
    let (table, thing) = (SourceTable<Shared>(), Thing(.file, 0o600))
    let first = table.value(of: try Self.source(thing, "x", isConcealed: true)) { Shared($0) }
    let second = table.value(of: try Self.source(thing, "x")) { Shared($0) }
    #expect(first === second && !first.file.source.isConcealed)
  }

  /// The permissions of a Maildir, of its `cur`, and of a view of its messages.
  @Test(
    arguments: [
      (0o755, 0o755, 0o444), (0o754, 0o755, 0o440), (0o745, 0o755, 0o404), (0o755, 0o754, 0o440), (0o711, 0o755, 0o400),
      (0o744, 0o744, 0o400),
    ] as [(UInt16, UInt16, UInt16)])
  func messagesRequireReadAndSearchAccessToTheirFolders(_ top: UInt16, _ inner: UInt16, _ expected: UInt16) throws {
    let names: [FileName] = ["cur", "new", "tmp"]
    let parts = names.enumerated().map { (name: $1, thing: Thing(.folder, inner, inode: UInt64($0) + 2)) }
    let folder = Thing(.folder, top, members: parts)
    let found = LookupResult(folder, try folder.attributes(.blocking))
    let list = try #require(try MailFileList.whole(of: found, after: nil, isTrusted: false))
    let shown = list.rights.applied(to: found.attributes).permissions & 0o444
    #expect(String(shown, radix: 8) == String(expected, radix: 8))
  }

  /// The permissions of a source, and those of a file and of a folder made from it. Group bits that are only `x` can be
  /// the mask of an access list, which the kernel ignores once they are 0.
  private static let modes: [(source: UInt16, file: UInt16, folder: UInt16)] = [
    (0o644, 0o644, 0o755), (0o600, 0o600, 0o700), (0o4711, 0o600, 0o700), (0o444, 0o444, 0o555), (0o024, 0o024, 0o025),
    (0o614, 0o600, 0o700), (0o604, 0o604, 0o705), (0o664, 0o664, 0o775), (0o200, 0o200, 0o200), (0, 0, 0),
  ]

  @Test func singleSourceViewInheritsOwnerModeAndACL() throws {
    let list = try AccessList([2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 7, 0, 9, 0, 0, 0])
    for view in Self.views() where ![.manyFiles, .manyForEachUser].contains(Self.table["\(type(of: view))"]) {
      for (permissions, ofFile, ofFolder) in Self.modes {
        let name = try #require(Self.names(view).first)
        let thing = Thing(view.sourceKind, permissions, owner: 5, group: 6, list: list)
        let request = view.listedRequest(beside: name)
        let found = try #require(try view.item(of: Self.source(thing, name), request, .immediate))
        let expected = found.attributes.kind == .folder ? ofFolder : ofFile
        let shown = String(found.attributes.permissions, radix: 8)
        #expect(shown == String(expected, radix: 8), "\(view.name) of \(String(permissions, radix: 8))")
        #expect(found.attributes.owner == 5 && found.attributes.group == 6)
        let own = try #require(try found.item.accessList())
        let right: UInt16 = found.attributes.kind == .folder ? 7 : 6
        #expect(own.entries.map(\.permissions) == [right, right], "\(view.name)")
      }
    }
  }

  /// Members, the folder, and the resulting permissions for owner, group and others; nil if it has no owner.
  private static let merges: [(folder: Thing, owner: UInt32?, group: UInt32?, permissions: UInt16)] = [
    (merge(0o755, (0o644, 1, 1), (0o644, 1, 1)), 1, 1, 0o644),
    (merge(0o755, (0o644, 1, 1), (0o444, 1, 1)), 1, 1, 0o444),
    (merge(0o555, (0o644, 1, 1)), 1, 1, 0o444),
    (merge(0o775, (0o664, 1, 1), (0o660, 1, 1)), 1, 1, 0o660),
    (merge(0o755, (0o644, 1, 1), (0o600, 1, 1)), 1, 1, 0o600),
    (merge(0o711, (0o644, 1, 1)), 1, 1, 0o600),
    (merge(0o744, (0o644, 1, 1)), 1, 1, 0o600),
    (merge(0o755, (0o644, 1, 1), (0o644, 2, 1)), nil, 1, 0o444),
    (merge(0o755, (0o640, 1, 1), (0o640, 2, 1)), nil, 1, 0o040),
    (merge(0o755, (0o600, 1, 1), (0o600, 2, 1)), nil, 1, 0),
    (merge(0o755, (0o044, 1, 1), (0o644, 2, 1)), nil, 1, 0),
    (merge(0o755, (0o640, 1, 1), (0o640, 1, 2)), 1, nil, 0o600),
    (merge(0o755, (0o604, 1, 1), (0o644, 1, 2)), 1, nil, 0o600),
    (merge(0o755, (0o644, 2, 2), (0o644, 3, 3)), nil, nil, 0o444),
    (merge(0o755, (0o644, 1, 1), (0o604, 2, 2), (0o644, 1, 1)), nil, nil, 0),
  ]

  private static func merge(_ mode: UInt16, _ members: (UInt16, UInt32, UInt32)...) -> Thing {
    // As the last part of an archive split into as many.
    let end = [0x50, 0x4b, 5, 6, UInt8(members.count - 1)] + [UInt8](repeating: 0, count: 17)
    let files = members.enumerated().map { index, member in
      (
        name: FileName("\(index).png"),
        thing: Thing(.file, member.0, owner: member.1, group: member.2, inode: UInt64(index) + 10, content: end)
      )
    }
    return Thing(.folder, mode, members: files)
  }

  @Test(arguments: ["merged", "sha256"], merges.indices)
  func mergedViewRequiresReadAccessToEverySource(name: String, row: Int) throws {
    let (folder, owner, group, permissions) = Self.merges[row]
    let view = try #require(Self.views().first { $0.name == name && $0.sourceKind == .folder })
    let request = view.listedRequest(beside: "f")
    let found = try #require(try view.item(of: Self.source(folder, "f"), request, .blocking))
    #expect(found.attributes.owner == owner ?? CommonRights.nobody)
    #expect(found.attributes.group == group ?? CommonRights.nobody)
    #expect(String(found.attributes.permissions, radix: 8) == String(permissions, radix: 8))
    let list = try found.item.accessList()
    #expect(list == nil)
  }

  @Test(arguments: merges.indices.filter { merges[$0].folder.members.count > 1 })
  func splitArchiveRequiresReadAccessToEveryPart(row: Int) throws {
    let (folder, owner, group, permissions) = Self.merges[row]
    let last = try #require(folder.members.last)
    let parts = folder.members.enumerated().map { (name: FileName("a.z0\($0 + 1)"), thing: $1.thing) }
    let whole = Thing(.folder, 0o755, members: parts.dropLast() + [("a.zip", last.thing)])
    let view = try #require(Self.views().first { $0.name == "contents" })
    let source = try Self.source(last.thing, "a.zip", in: whole)
    let found = try #require(try view.item(of: source, ViewRequest(source: "a.zip"), .blocking))
    #expect(found.attributes.owner == owner ?? CommonRights.nobody)
    #expect(found.attributes.group == group ?? CommonRights.nobody)
    #expect(
      String(found.attributes.permissions, radix: 8) == String(permissions | (permissions & 0o444) >> 2, radix: 8))
    let list = try found.item.accessList()
    #expect(list == nil)
  }

  @Test(arguments: merges.indices.filter { merges[$0].folder.members.count > 1 })
  func trackRequiresReadAccessToSheetAndSound(row: Int) throws {
    let (folder, owner, group, permissions) = Self.merges[row]
    if folder.members.count > 2 { return }
    let (first, last) = (folder.members[0].thing, folder.members[1].thing)
    func thing(_ thing: Thing, _ content: String) throws -> Thing {
      let shown = try thing.attributes(.blocking)
      return Thing(
        .file, shown.permissions, owner: shown.owner, group: shown.group, inode: thing.inode,
        content: Array(content.utf8))
    }
    let sheet = try thing(first, "FILE a.wav WAVE\nTRACK 1 AUDIO\nINDEX 01 0:0:0")
    let whole = Thing(.folder, 0o755, members: [("a.cue", sheet), ("a.wav", try thing(last, ""))])
    let view = try #require(Self.views().first { $0.name == "tracks" })
    let tracks = try #require(
      try view.item(of: Self.source(sheet, "a.cue", in: whole), ViewRequest(source: "a.cue"), .blocking))
    let found = try #require(try tracks.item.child(named: "01.wav", .blocking))
    #expect(found.attributes.owner == owner ?? CommonRights.nobody)
    #expect(found.attributes.group == group ?? CommonRights.nobody)
    #expect(String(found.attributes.permissions, radix: 8) == String(permissions, radix: 8))
  }

  @Test func aclOfOneSourceRestrictsMergedView() throws {
    // user::rw- user:9:--- group::r-- mask::r-- other::r--
    func entry(_ tag: UInt8, _ permissions: UInt8, _ id: UInt8 = 255) -> [UInt8] {
      [tag, 0, permissions, 0] + (id == 255 ? [255, 255, 255, 255] : [id, 0, 0, 0])
    }
    let bytes = [2, 0, 0, 0] + entry(1, 6) + entry(2, 0, 9) + entry(4, 4) + entry(16, 4) + entry(32, 4)
    let list = try AccessList(bytes)
    #expect(list.bytes == bytes)
    let folder = Thing(
      .folder, 0o755,
      members: [("1.png", Thing(.file, 0o644, list: list, inode: 10)), ("2.png", Thing(.file, 0o644, inode: 11))])
    let view = try #require(Self.views().first { $0.name == "merged" })
    let found = try #require(try view.item(of: Self.source(folder, "f"), view.listedRequest(beside: "f"), .blocking))
    #expect(found.attributes.permissions == 0o600)
    #expect(throws: Fault.self) { try AccessList([1, 0, 0, 0]) }
    #expect(throws: Fault.self) { try AccessList(Array(bytes.dropLast())) }
  }
}
