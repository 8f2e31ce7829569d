package import Bytes
internal import Glibc
package import Tree

/// `FOLDER.search/`, and `.search/` in the root, both by name: a folder for each query, with the documents found.
package struct SearchView: FolderView {
  package let name = "search"
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let service: FindService

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
    guard name == ".search" else { return nil }
    return try item(of: root, ViewRequest(source: ""), .blocking)
  }

  package func attach(to tree: Tree) { service.attach(tree) }

  package func stop() { service.stop() }
}

/// `NAME.ffsearch.results/`, by name: the documents that match the query in a file, below the folder of the file.
package struct SavedSearchView: FolderView {
  package let name = "results"
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let service: FindService

  package static let suffix: StaticString = ".results"
  private static let fileExtension: FileExtension = "ffsearch"
  /// The maximum size of the file, in bytes.
  private static let most = 4096

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
    guard let parent = source.folderSource, source.isConcealed || parent.item is RealFolder else { return nil }
    let query = source.isConcealed ? [] : try Self.query(of: source, blocking)
    let folder = ResultsFolder(SearchedFolder(parent, service, file: source), query)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns the lines of the file as one query, without comments, which start with a number sign.
  private static func query(of source: Source, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    let bytes = try source.open(blocking)
    let text = try bytes.bytes(at: 0, count: Int(min(bytes.size, Int64(most))), blocking)
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let lines = text.dropFirst(text.starts(with: mark) ? mark.count : 0)
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

  /// The attributes of a folder of results: only the user of this process may enter it, and root. The documents in it
  /// may be readable by fewer users than the folder.
  func attributes(inode: UInt64, _ kind: Kind, size: Int64 = 0) -> Attributes {
    var attributes = file.attributes.view(inode: inode, kind: kind, size: size)
    (attributes.owner, attributes.group) = (geteuid(), getegid())
    attributes.permissions = kind == .folder ? 0o500 : 0o400
    return attributes
  }
}

/// A directory or file of a search.
protocol SearchItem: DerivedItem {
  var searched: SearchedFolder { get }
}

extension SearchItem {
  var file: SourceState { searched.file }
  var isImmutable: Bool { false }
  func accessList() throws(Fault) -> AccessList? { nil }
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

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { searched.attributes(inode: inode, .folder) }

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
    let latest = try searched.search().latest
    return IndexedCursor(latest.map { ($0, ResultsFolder(searched, Array($0.bytes)).inode, .folder) })
  }
}
