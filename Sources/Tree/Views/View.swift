public import Bytes
public import Catalogue
internal import Files
internal import Glibc
internal import Index
internal import Threads

/// A representation of a file as something else, offered beside it under a name that starts with the file's name.
///
/// A view is one small type, registered in `Views`. It works on any file at any depth, since its input is bytes.
public protocol View: Sendable {
  /// The value of `user.ffmount.view`, such as `contents`.
  var name: String { get }

  /// The names by which listings of this view can be disabled.
  var names: Set<String> { get }

  /// The type of the derived item.
  var kind: Kind { get }

  /// The type of the source: file or directory.
  var sourceKind: Kind { get }

  /// The extensions of the files beside which the view is listed.
  var listedExtensions: Set<FileExtension> { get }

  /// User-visible descriptions, one for each form of the view's name.
  var descriptions: [ViewDescription] { get }

  /// The extensions of the files beside which `-o views=` can list the view.
  var possibleExtensions: Set<FileExtension> { get }

  /// The extensions that this view's names can have. The view is not consulted for other names.
  var endings: Set<FileExtension> { get }

  /// The formats that a name can request by its extension.
  var formats: [Format] { get }

  /// Returns the view's name beside a file.
  func listedName(beside file: FileName) -> FileName

  /// Returns the name of the view that is listed beside a file, one of `names`.
  func viewName(beside file: FileName) -> String

  /// Returns the purpose of listing the view beside a file.
  func purpose(beside file: FileName) -> ListingPurpose

  /// Returns the request for the listed name beside a file.
  func listedRequest(beside file: FileName) -> ViewRequest

  /// Returns other files whose view would have the same name. If one exists, the view is of that file, and none is
  /// listed beside this file.
  func alternatives(of file: FileName) -> [FileName]

  /// Returns whether the view is listed beside a file of this name. The file's extension is in `listedExtensions`.
  func isListed(beside file: FileName) -> Bool

  /// Returns whether the view is listed beside a file without an extension whose first bytes are `head`.
  func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool

  /// The subdirectories that mark a directory beside which the view is listed. Empty if there are none.
  var markers: [FileName] { get }

  /// The extensions of directories beside which the view is listed, regardless of their content.
  var folderExtensions: Set<FileExtension> { get }

  /// Returns the possible requests for `name`, longest source name first. Empty if `name` is not a name of this view.
  /// Only the source of the last request may itself be a view.
  func requests(for name: FileName) -> [ViewRequest]

  /// Returns the view of a file. Returns `nil` if the content is unsuitable for this view. The view of a concealed
  /// source is derived from its attributes alone, and is never `nil` because of its content.
  func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?

  /// Returns the view of the root directory itself with a name. Returns `nil` if there is none. Does not block.
  func rootItem(named name: FileName, in root: Source) throws(Fault) -> LookupResult?

  /// Receives the tree that shows the view, once, before its first request. Must not retain it.
  func attach(to tree: Tree)

  /// The background work in progress. Does not block.
  var work: WorkReport { get }

  /// Stops the background work.
  func stop()
}

extension View {
  public var names: Set<String> { [name] }
  public var sourceKind: Kind { .file }
  public var formats: [Format] { [] }
  public var markers: [FileName] { [] }
  public var folderExtensions: Set<FileExtension> { [] }
  public func viewName(beside file: FileName) -> String { name }
  public func purpose(beside file: FileName) -> ListingPurpose { .converting }
  public func listedRequest(beside file: FileName) -> ViewRequest { ViewRequest(source: file) }
  public func alternatives(of file: FileName) -> [FileName] { [] }
  public func isListed(beside file: FileName) -> Bool { true }
  public func rootItem(named name: FileName, in root: Source) throws(Fault) -> LookupResult? { nil }
  public func attach(to tree: Tree) {}
  public var work: WorkReport { WorkReport() }
  public func stop() {}
}

/// A view that is a directory, named after its source with a suffix.
package protocol FolderView: View {
  /// The suffix, including its dot.
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

/// A parsed name of a view.
public struct ViewRequest: Sendable {
  /// The name of the source, in the same directory.
  public var source: FileName
  /// The recipe of the conversion. `nil` for a directory.
  package var recipe: Recipe?

  package init(source: FileName, recipe: Recipe? = nil) {
    self.source = source
    self.recipe = recipe
  }
}

/// The source of a requested view.
public struct Source: Sendable {
  public let item: any Item
  /// The file's attributes, with a bounded size.
  public let attributes: Attributes
  public let name: FileName
  /// The directory that contains the file.
  package let folder: Node
  /// Whether the caller lacks permission to read the source. The view then exists regardless of the source's content
  /// and reveals nothing about it.
  package var isConcealed = false
  /// Whether each reply depends on the file's current permissions and bytes. True if several users see the mount or it
  /// is writable.
  var isCheckedAlways = false
  /// Decrypts the file's bytes. Nil if nothing does.
  package var decryption: (any Decryption)?
  /// The file's own owner and permissions, even if `attributes` are those of a derived item.
  private(set) var face: AccessAttributes

  /// Creates a source. Clamps the size, since a real file may have any.
  package init(item: any Item, attributes: Attributes, name: FileName, folder: Node, isConcealed: Bool = false) {
    var attributes = attributes
    attributes.size = Bounds.size(attributes.size)
    self.item = item
    self.attributes = attributes
    face = AccessAttributes(attributes)
    self.name = name
    self.folder = folder
    self.isConcealed = isConcealed
  }

  /// Returns the same file for a caller that may not read the view, with the owner and permissions of `attributes`. The
  /// permissions of a directory include read only where they include search.
  func concealed(with attributes: Attributes) -> Source {
    var shown = self.attributes
    (shown.owner, shown.group, shown.permissions) = (attributes.owner, attributes.group, attributes.permissions)
    if attributes.kind == .folder { shown.permissions &= ~0o444 | shown.permissions << 2 }
    var source = Source(item: item, attributes: shown, name: name, folder: folder, isConcealed: true)
    source.isCheckedAlways = isCheckedAlways
    source.decryption = decryption
    source.face = face
    return source
  }

  /// Returns the same file with its current attributes. Returns `nil` if it cannot change. Throws ESTALE if the file
  /// was removed or replaced.
  package func now(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) -> Source? {
    try item.checkCurrent(isDoubted: isDoubted, blocking)
    if item.isImmutable { return nil }
    let attributes: Attributes
    do throws(Fault) { attributes = try item.attributes(blocking) } catch {
      throw error.isDelay ? error : .stale
    }
    return Source(item: item, attributes: attributes, name: name, folder: folder, isConcealed: isConcealed)
  }

  /// The identifier of the file's bytes.
  public var revision: UInt64 { item.revision(attributes) }
  /// Returns an identifier of this state of the file and of everything from which it is derived. `revision` is the
  /// file's.
  package func state(_ revision: UInt64) -> UInt64 { StableHash(seed: revision).adding(item.sourceState).value }
  /// The path below the mountpoint, for display.
  public var path: String { folder.path(to: name) }
  /// The names on the path from the root.
  package var way: [FileName] { folder.way + [name] }

  /// Returns whether the file's name has one of these extensions.
  package func isNamed(among extensions: Set<FileExtension>) -> Bool {
    name.fileExtension.map { extensions.contains($0) } ?? false
  }

  /// Returns whether the view exists regardless of the file's content. True if the file has one of these extensions, or
  /// if the reply would otherwise reveal content to a caller that may not read it.
  package func isTaken(byName extensions: Set<FileExtension>) -> Bool { isConcealed || isNamed(among: extensions) }

  /// Returns the file's first bytes, enough for every view to recognize its sources. Throws EACCES if the caller may
  /// not read them.
  package func head(_ blocking: BlockingMode) throws(Fault) -> ArraySlice<UInt8> {
    if isConcealed { throw Fault(.system(EACCES)) }
    if let head = item.knownHead { return head[...] }
    let stored = try item.open(pinned: false, blocking)
    var bytes = stored
    do throws(Fault) { bytes = try plain(stored, .recognition, blocking) } catch {
      // The views that its name has give the reason.
      guard error.kind == .locked || error.kind == .damaged else { throw error }
    }
    return try bytes.head(SniffedViewCache.headSize, blocking)
  }

  /// Opens the file's bytes and determines their size. Reads throw if the file changes afterwards.
  public func open(_ blocking: BlockingMode) throws(Fault) -> any ByteSource { try open(.reading, blocking) }

  /// Opens the file's bytes for a purpose, as `open` does.
  package func open(_ purpose: DecryptionPurpose, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    // The bytes come from the directory's files, and the caller may not read all of them.
    if isConcealed, attributes.kind == .folder { throw Fault(.system(EACCES)) }
    return try plain(item.content(blocking), purpose, blocking)
  }

  /// Returns the decrypted bytes of an encrypted file. Returns those of any other file unchanged.
  private func plain(
    _ bytes: any ByteSource, _ purpose: DecryptionPurpose, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    // Results of conversions are not encrypted.
    guard let decryption, item.knownHead == nil else { return bytes }
    return try decryption.plain(bytes, of: revision, for: purpose, blocking)
  }
}

/// The decryption of files before any view reads them.
public protocol Decryption: Sendable {
  /// Returns the decrypted bytes of an encrypted file, and `bytes` of any other. Throws `locked` if no password fits.
  ///
  /// - Parameters:
  ///   - revision: Identifies the state of the file.
  ///   - purpose: With `recognition`, passwords are tried for about a second only.
  func plain(
    _ bytes: any ByteSource, of revision: UInt64, for purpose: DecryptionPurpose, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource
}

extension Item {
  /// Opens a file's bytes for a view and determines their size. Reads throw if the file changes afterwards.
  ///
  /// Validates untrusted input: throws `limit` if the source exceeds `Bounds.largestSize`.
  package func content(_ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    let bytes = try open(pinned: true, blocking)
    try bytes.findSize(blocking)
    guard Bounds.holds(bytes.size) else {
      throw Fault(.limit, "it has \(bytes.size) bytes, and views are made of files of up to \(Bounds.largestSize)")
    }
    return bytes
  }
}

extension Attributes {
  /// Returns a view's attributes: the owner, times, and read and write permissions of its source. A directory can be
  /// searched by those that may read it.
  ///
  /// A view cannot be written to, but its copies have its permissions, and users edit those. Clamps the size, which may
  /// be an estimate or an unverified value from an archive or the index.
  public func view(inode: UInt64, kind: Kind, size: Int64) -> Attributes {
    var shown = permissions & 0o666
    // Group bits can be the mask of an access list. The kernel ignores the list if they become 0, so others must not
    // get permissions either.
    if permissions & 0o070 != 0, shown & 0o060 == 0 { shown &= 0o660 }
    let size = Bounds.size(size)
    return Attributes(
      inode: inode, kind: kind, permissions: kind == .folder ? shown | (shown & 0o444) >> 2 : shown, links: 1,
      owner: owner, group: group, size: size, allocated: (size + 511) / 512, accessed: accessed, modified: modified,
      changed: changed)
  }
}

/// The available views and the subset that listings show.
public struct Views: Sendable {
  public let all: [any View]
  /// The rule for listings.
  package let listing: ViewListing
  /// The views of directories that a listing may show.
  let listedBesideFolders: [any View]
  /// The maximum nesting depth in archives at which a listing shows views.
  public let depth: Int
  /// The decryption of the files that the views are made of. Nil if there is none.
  let decryption: (any Decryption)?
  private let listed: ExtensionTable<any View>
  private let named: ExtensionTable<any View>

  /// Creates the views, in lookup order.
  package init(
    _ all: [any View], listing: ViewListing = ViewListing(), depth: Int, decryption: (any Decryption)? = nil
  ) {
    self.all = all
    self.decryption = decryption
    self.listing = listing
    self.depth = depth
    listedBesideFolders = all.filter { !$0.markers.isEmpty || !$0.folderExtensions.isEmpty }
    listed = ExtensionTable(all.flatMap { view in view.listedExtensions.map { ($0, view) } })
    named = ExtensionTable(all.flatMap { view in view.endings.map { ($0, view) } })
  }

  /// Returns the views that a listing may show beside a file with this extension.
  func listed(beside fileExtension: FileExtension) -> [any View] { listed[fileExtension] }

  /// Returns the views that may have this name.
  func named(_ name: FileName) -> [any View] { name.fileExtension.map { named[$0] } ?? [] }
}

extension Views {
  /// Returns the names that views of an entry of `folder` could have, without modifiers. A lookup determines which of
  /// them exist.
  package func candidates(
    of name: FileName, _ kind: Kind, in folder: Node
  ) -> [(name: FileName, isListed: Bool)] {
    var seen: Set<FileName> = []
    var found: [(name: FileName, isListed: Bool)] = []
    func add(_ candidate: FileName, isListed: Bool) {
      if candidate != name, candidate.count <= 255, seen.insert(candidate).inserted {
        found.append((candidate, isListed))
      }
    }
    let listsViews = folder.depth < depth && folder.item.listsViews
    for view in all where listsViews && view.sourceKind == kind {
      let isListed =
        kind == .folder || name.fileExtension.map { view.listedExtensions.contains($0) } ?? true
      if isListed, listing.shows(view, beside: name, in: folder.item), view.isListed(beside: name) {
        add(view.listedName(beside: name), isListed: true)
      }
    }
    for view in all where view.sourceKind == kind {
      if view.formats.isEmpty { add(view.listedName(beside: name), isListed: false) }
      for format in view.formats { add(FormatSuffix.name.name(of: name, as: format), isListed: false) }
    }
    return found
  }
}
