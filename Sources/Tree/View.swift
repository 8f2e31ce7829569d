public import Bytes
public import Catalogue
internal import Files
internal import Glibc
internal import Index
internal import Threads

/// A way of seeing a file as something else, offered beside it under a name that starts with the file's own.
///
/// A view is one small type, registered in `Views`. It works on any file at any depth: what it gets are bytes.
public protocol View: Sendable {
  /// For `user.ffmount.view`: `contents`.
  var name: String { get }

  /// All names that a listing can be told not to show: where a view has several, it sees to some of them itself.
  var names: Set<String> { get }

  /// What the view of a file is.
  var kind: Kind { get }

  /// What it is a view of: a file, or a folder.
  var sourceKind: Kind { get }

  /// The extensions of the files that a listing shows this view beside.
  var listedExtensions: Set<FileExtension> { get }

  /// What is told of the view: one for each kind of name that it has.
  var descriptions: [ViewDescription] { get }

  /// Those that it could be shown beside, if `-o views=` says so.
  var possibleExtensions: Set<FileExtension> { get }

  /// The extensions that names of the view have: none but those is asked after.
  var endings: Set<FileExtension> { get }

  /// The formats in which a file can be had by a name that ends in one of them.
  var formats: [Format] { get }

  /// The view's name beside a file.
  func listedName(beside file: FileName) -> FileName

  /// What that name asks for.
  func listedRequest(beside file: FileName) -> ViewRequest

  /// Other files that have the view in place of this one. If one of them exists, no view is listed beside this file.
  func alternatives(of file: FileName) -> [FileName]

  /// Whether a listing shows the view beside a file of this name, whose extension is among `listedExtensions`.
  func isListed(beside file: FileName) -> Bool

  /// Whether a listing shows the view beside a file without an extension that starts with `head`.
  func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool

  /// The folders that a folder has beside which a listing shows the view, of which it is one; none if it shows it beside no
  /// folder.
  var markers: [FileName] { get }

  /// The extensions of folders beside which it shows the view, whatever they hold.
  var folderExtensions: Set<FileExtension> { get }

  /// The files whose view `name` could be, and what of each, the longest name first; none when it is no name of this
  /// view's. All but the last may only be something that exists before any view.
  func requests(for name: FileName) -> [ViewRequest]

  /// The view of a file; nil when its content is not for this view. Of a source that is concealed it is told from its
  /// attributes alone, and never nil because of what the source holds.
  func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found?

  /// What goes on in the background. Does not wait for it.
  var work: WorkReport { get }

  /// Ends what goes on in the background.
  func stop()
}

extension View {
  public var names: Set<String> { [name] }
  public var sourceKind: Kind { .file }
  public var formats: [Format] { [] }
  public var markers: [FileName] { [] }
  public var folderExtensions: Set<FileExtension> { [] }
  public func listedRequest(beside file: FileName) -> ViewRequest { ViewRequest(source: file) }
  public func alternatives(of file: FileName) -> [FileName] { [] }
  public func isListed(beside file: FileName) -> Bool { true }
  public var work: WorkReport { WorkReport() }
  public func stop() {}
}

/// A view that is a folder, named as its file is with a suffix.
package protocol FolderView: View {
  /// With its dot.
  static var suffix: StaticString { get }
}

extension FolderView {
  package var kind: Kind { .folder }

  package static var spelling: String { "NAME\(suffix)/" }

  package var endings: Set<FileExtension> { [FileExtension(Self.suffix.description.utf8.drop { $0 == 0x2e })] }

  package func listedName(beside file: FileName) -> FileName { file.appending(Self.suffix) }

  package func requests(for name: FileName) -> [ViewRequest] {
    name.dropping(suffix: Self.suffix).map { [ViewRequest(source: $0)] } ?? []
  }
}

/// A view's name, taken apart.
public struct ViewRequest: Sendable {
  /// The file that the view is of, in the same folder.
  public var source: FileName
  /// What is to be made of it; nil for a folder.
  package var recipe: Recipe?

  package init(source: FileName, recipe: Recipe? = nil) {
    self.source = source
    self.recipe = recipe
  }
}

/// A file that a view is asked for.
public struct Source: Sendable {
  public let item: any Item
  /// Their size is bounded.
  public let attributes: Attributes
  public let name: FileName
  /// The folder that holds it.
  package let folder: Node
  /// Whether who asks may not read it: then the view is there, whatever the source holds, and says nothing of it.
  package var isConcealed = false
  /// Whether each answer depends on the file's permissions and bytes of now: several users see the mount, or it can be
  /// written.
  var isCheckedAlways = false
  /// The file's own owner and permissions, also if `attributes` are those of what is made of it.
  private(set) var face: Face

  /// A door: a real file may have any size.
  package init(item: any Item, attributes: Attributes, name: FileName, folder: Node, isConcealed: Bool = false) {
    var attributes = attributes
    attributes.size = Bounds.size(attributes.size)
    self.item = item
    self.attributes = attributes
    face = Face(attributes)
    self.name = name
    self.folder = folder
    self.isConcealed = isConcealed
  }

  /// The same file for a caller that may not read the view, which has the owner and the permissions of `attributes`. Those of
  /// a folder permit to read a view of it where they also permit to search it.
  func concealed(with attributes: Attributes) -> Source {
    var shown = self.attributes
    (shown.owner, shown.group, shown.permissions) = (attributes.owner, attributes.group, attributes.permissions)
    if attributes.kind == .folder { shown.permissions &= ~0o444 | shown.permissions << 2 }
    var source = Source(item: item, attributes: shown, name: name, folder: folder, isConcealed: true)
    source.isCheckedAlways = isCheckedAlways
    source.face = face
    return source
  }

  /// The same file with the attributes that it has by now; nil if it cannot change. Throws ESTALE if it is gone, or
  /// another one has its name.
  package func now(isDoubted: Bool, _ patience: Patience) throws(Fault) -> Source? {
    try item.checkCurrent(isDoubted: isDoubted, patience)
    if item.isImmutable { return nil }
    let attributes: Attributes
    do throws(Fault) { attributes = try item.attributes(patience) } catch {
      throw error.isDelay ? error : .stale
    }
    return Source(item: item, attributes: attributes, name: name, folder: folder, isConcealed: isConcealed)
  }

  /// Names the file's bytes.
  public var revision: UInt64 { item.revision(attributes) }
  /// Names this state of the file and of all that it was made of; `revision` is the file's.
  package func state(_ revision: UInt64) -> UInt64 { StableHash(seed: revision).adding(item.sourceState).value }
  /// Below the mountpoint, for people.
  public var path: String { folder.path(to: name) }
  /// The names on the way to it from the root.
  package var way: [FileName] { folder.way + [name] }

  /// Whether the file's name has one of these extensions.
  package func isNamed(among extensions: Set<FileExtension>) -> Bool {
    name.fileExtension.map { extensions.contains($0) } ?? false
  }

  /// Whether a view goes by the name, without a look inside: a listing shows it under this name, or it would tell what the
  /// source holds to who may not read it.
  package func isTaken(byName extensions: Set<FileExtension>) -> Bool { isConcealed || isNamed(among: extensions) }

  /// The file's first bytes, enough for every view to know its own; EACCES for who may not read them.
  package func head(_ patience: Patience) throws(Fault) -> ArraySlice<UInt8> {
    if isConcealed { throw Fault(.system(EACCES)) }
    if let head = item.knownHead { return head[...] }
    return try item.open(pinned: false, patience).head(SniffedFiles.headSize, patience)
  }

  /// The file's bytes, whose size is known; a change of the file is a fault from then on.
  public func open(_ patience: Patience) throws(Fault) -> any ByteSource {
    // What is made of a folder's files, for who may not read all of them.
    if isConcealed, attributes.kind == .folder { throw Fault(.system(EACCES)) }
    return try item.content(patience)
  }
}

extension Item {
  /// A file's bytes for a view, their size known and bounded; a change of the file is a fault from then on.
  ///
  /// A door: of what is larger than any file that somebody has, nothing is made.
  package func content(_ patience: Patience) throws(Fault) -> any ByteSource {
    let bytes = try open(pinned: true, patience)
    try bytes.findSize(patience)
    guard Bounds.holds(bytes.size) else {
      throw Fault(.limit, "it has \(bytes.size) bytes, and views are made of files of up to \(Bounds.largestSize)")
    }
    return bytes
  }
}

extension Attributes {
  /// A view's: its source's owner, times and permissions, less what a read-only folder or file cannot have.
  ///
  /// A door: the size may be a guess, or what an archive or the index claims.
  public func view(inode: UInt64, kind: Kind, size: Int64) -> Attributes {
    var readable = permissions & 0o444
    // A group that may do something, but not read, may be the mask of an access list: no list counts where it is nothing.
    if permissions & 0o070 != 0, readable & 0o040 == 0 { readable &= 0o440 }
    let size = Bounds.size(size)
    return Attributes(
      inode: inode, kind: kind, permissions: kind == .folder ? readable | readable >> 2 : readable, links: 1,
      owner: owner, group: group, size: size, allocated: (size + 511) / 512, accessed: accessed, modified: modified,
      changed: changed)
  }
}

/// Which views there are and which of them a listing shows.
public struct Views: Sendable {
  public let all: [any View]
  /// Those that a listing may show.
  let shown: [any View]
  /// Those of folders that it may show.
  let shownBesideFolders: [any View]
  /// How many archives deep a listing shows views.
  public let depth: Int
  private let listed: ExtensionTable<any View>
  private let named: ExtensionTable<any View>

  /// In the order in which they are looked for. A listing does not show those with the `hidden` names.
  package init(_ all: [any View], depth: Int, hidden: Set<String> = []) {
    self.all = all
    self.depth = depth
    shown = all.filter { !$0.names.isSubset(of: hidden) }
    shownBesideFolders = shown.filter { !$0.markers.isEmpty || !$0.folderExtensions.isEmpty }
    listed = ExtensionTable(shown.flatMap { view in view.listedExtensions.map { ($0, view) } })
    named = ExtensionTable(all.flatMap { view in view.endings.map { ($0, view) } })
  }

  /// Those that a listing may show beside a file with this extension.
  func listed(beside fileExtension: FileExtension) -> [any View] { listed[fileExtension] }

  /// Those that a name may be one of.
  func named(_ name: FileName) -> [any View] { name.fileExtension.map { named[$0] } ?? [] }
}

/// What `-o views=` changes about listings; names keep working.
public struct ViewListing: Sendable {
  public var isOff = false
  public var added: Set<FileExtension> = []
  public var removed: Set<FileExtension> = []
  /// The names of views that no listing shows.
  public var hidden: Set<String> = []
  /// How names of files in another format are listed.
  public var spelling = FormatSuffix.name

  public init() {}

  /// What of a view's extensions a listing shows.
  package func extensions(_ usual: Set<FileExtension>, byName: Set<FileExtension> = []) -> Set<FileExtension> {
    isOff ? [] : usual.union(byName.intersection(added)).subtracting(removed)
  }
}

extension Views {
  /// The names that views of a file or folder could have, without modifiers: what exists of them a lookup tells.
  package func candidates(of name: FileName, _ kind: Kind) -> [(name: FileName, isListed: Bool)] {
    var seen: Set<FileName> = []
    var found: [(name: FileName, isListed: Bool)] = []
    func add(_ candidate: FileName, isListed: Bool) {
      if candidate != name, candidate.count <= 255, seen.insert(candidate).inserted {
        found.append((candidate, isListed))
      }
    }
    for view in shown where view.sourceKind == kind {
      let isListed =
        kind == .folder || name.fileExtension.map { view.listedExtensions.contains($0) } ?? true
      if isListed, view.isListed(beside: name) { add(view.listedName(beside: name), isListed: true) }
    }
    for view in all where view.sourceKind == kind {
      if view.formats.isEmpty { add(view.listedName(beside: name), isListed: false) }
      for format in view.formats { add(FormatSuffix.name.name(of: name, as: format), isListed: false) }
    }
    return found
  }
}
