package import Bytes
internal import Glibc
package import Tree

/// `FOLDER.search/`, and `.search/` in the root, both by name: a folder for each query, with the documents found.
package struct SearchView: FolderView {
  package let name = "search"
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  let service: FindService

  package static let suffix: StaticString = ".search"

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FOLDER\(Self.suffix)/", sources: "any folder (`.search/` in the root)",
        "by name a folder `QUERY/` with all files, pages and messages that match")
    ]
  }

  package init(_ service: FindService) { self.service = service }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard source.attributes.kind == .folder, source.isConcealed || source.item is RealFolder else { return nil }
    let folder = SearchesFolder(SearchedFolder(source, service))
    return LookupResult(folder, try folder.attributes(blocking))
  }

  package func rootItem(named name: FileName, in root: Source) throws(Fault) -> LookupResult? {
    guard name == ".search", root.attributes.kind == .folder else { return nil }
    let folder = SearchesFolder(SearchedFolder(root, service))
    return LookupResult(folder, try folder.attributes(.blocking))
  }

  package func attach(to tree: Tree) { service.attach(tree) }

  package func stop() { service.stop() }

  package var work: WorkReport { service.work }
}

/// `NAME.ffsearch.results/`, by name: the documents that match the query in a file, below the folder of the file.
package struct SavedSearchView: FolderView {
  package let name = "results"
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let service: FindService

  package static let suffix: StaticString = ".results"
  private static let fileExtension: FileExtension = "ffsearch"
  /// The maximum size of the file, in bytes. That of a query is smaller.
  private static let most = 64 << 10

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FILE.ffsearch\(Self.suffix)/", sources: "a text file with a query",
        "all files, pages and messages below its folder that match")
    ]
  }

  package init(_ service: FindService) { self.service = service }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let source = name.dropping(suffix: Self.suffix), source.fileExtension == Self.fileExtension else { return [] }
    return [ViewRequest(source: source)]
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard !service.isOfFile, let parent = source.folderSource, source.isConcealed || parent.item is RealFolder else {
      return nil
    }
    let query = source.isConcealed ? [] : try Self.query(of: source, blocking)
    let folder = ResultsFolder(SearchedFolder(parent, service, file: source), query)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns the lines of the file as one query, without comments, which start with a number sign.
  private static func query(of source: Source, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    let bytes = try source.open(blocking)
    let text = try bytes.bytes(at: 0, count: Int(min(bytes.size, Int64(most))), blocking)
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let decoded = DocumentText.text(of: text, isPage: false)
    // It is refused rather than cut.
    if bytes.size > Int64(most) { return decoded }
    let lines = decoded.dropFirst(decoded.starts(with: mark) ? mark.count : 0)
      .split { $0 == 0x0a || $0 == 0x0d }.filter { $0.first != UInt8(ascii: "#") }
    return Array(lines.joined(separator: [0x20]))
  }
}

/// A folder that is searched, as the source of views.
final class SearchedFolder: Sendable {
  let folder: Source
  /// The folder, or the file with the query.
  let file: SourceState
  let service: FindService
  /// The path of the folder from the root.
  private let path: [FileName]

  /// - Parameter file: the file with the query. `nil` for a query that is a name.
  init(_ folder: Source, _ service: FindService, file: Source? = nil) {
    self.folder = folder
    self.service = service
    self.file = SourceState(file ?? folder)
    path = folder.way.filter { !$0.bytes.isEmpty }
  }

  func search() throws(Fault) -> OpenSearch { try service.search(path) }

  /// The process for which the request in progress searches. Root searches as this process does.
  var reader: FindReader {
    get throws(Fault) {
      guard let tree = service.tree, tree.isShared else { return .process }
      guard let caller = Credentials.current else { throw Fault(.system(EACCES)) }
      return caller.user == 0 || caller.user == geteuid() ? .process : .user(caller, tree)
    }
  }

  /// Returns the attributes of a directory of results, which differ for each user: it can be entered by those that may
  /// read the folder.
  func attributes(inode: UInt64) -> Attributes { file.attributes.view(inode: inode, kind: .folder, size: 0) }

  /// Returns the attributes of a file about results, which only the user that has searched may read.
  func attributes(inode: UInt64, size: Int, of owner: (user: UInt32, group: UInt32)) -> Attributes {
    var attributes = file.attributes.view(inode: inode, kind: .file, size: Int64(size))
    (attributes.owner, attributes.group, attributes.permissions) = (owner.user, owner.group, 0o400)
    return attributes
  }
}

extension FindReader {
  /// The user and group of files that only the process may read.
  var owner: (user: UInt32, group: UInt32) {
    if case .user(let caller, _) = self { (caller.user, caller.group) } else { (geteuid(), getegid()) }
  }
}

/// A directory or file of a search.
protocol SearchItem: DerivedItem {
  var searched: SearchedFolder { get }
}

extension SearchItem {
  var file: SourceState { searched.file }
  var isImmutable: Bool { false }
  func accessList() throws(Fault) -> AccessList? { kind == .folder ? try file.accessList(kind) : nil }
  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? { file.provenance(view: "search", nil) }
}

/// `FOLDER.search/`: has a directory for every query, and lists the latest ones.
final class SearchesFolder: SearchItem {
  let searched: SearchedFolder
  let inode: UInt64
  var kind: Kind { .folder }
  var identity: UInt64 { Self.mark }

  private static let mark: UInt64 = 0x6669_6e64 << 32

  init(_ searched: SearchedFolder) {
    self.searched = searched
    inode = searched.file.inode(Self.mark)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { searched.attributes(inode: inode) }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    // Programs look up hidden names everywhere. Every listed name must be a valid file name.
    if name.bytes.first == 0x2e || name.count > 255 || Self.isProbe(name) { return nil }
    let folder = ResultsFolder(searched, Array(name.bytes))
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns whether file managers look up the name in every directory.
  private static func isProbe(_ name: FileName) -> Bool {
    let endings: Set<FileExtension> = ["ini", "inf", "db", "jpg", "png", "gif", "bin"]
    if let ending = name.fileExtension, endings.contains(ending), !name.bytes.contains(0x20) { return true }
    return ["lost+found", "System Volume Information"].contains(name.text)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    if blocking == .immediate { throw .later }
    let latest = try searched.search().latest(of: searched.reader)
    return IndexedCursor(latest.map { ($0, ResultsFolder(searched, Array($0.bytes)).inode, .folder) })
  }
}
