internal import Bytes
internal import Catalogue
internal import Jobs
internal import Synchronization
internal import Tree

/// The determination of a directory's files, which are all derived from one file.
protocol FolderContents: Sendable {
  /// The value of `user.ffmount.view`.
  var view: String { get }
  /// A value that differs between directories of a view with different files.
  var mark: UInt64 { get }
  /// The job that determines the directory's entries.
  var question: Job.Work { get }

  /// Requests the files from a worker.
  func files(of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode) throws(Fault) -> FolderFiles
}

/// The files of such a directory.
struct FolderFiles: Sendable {
  /// The number of files in a listing.
  let count: Int
  let name: @Sendable (Int) -> FileName
  /// Returns the recipe of the file with a name, listed or not. Returns `nil` if it does not exist.
  let recipe: @Sendable (FileName) -> Recipe?
  /// Returns the index of the listed file with a name, if the next files are to be converted ahead of a sequential
  /// reader.
  var number: @Sendable (FileName) -> Int? = { _ in nil }
}

/// A directory of files that are derived from another file: its pages, tracks, pictures, or segments for players.
final class MadeFolder: DerivedItem {
  let file: SourceState
  private let contents: any FolderContents
  private let conversions: Conversions
  private let known = Mutex<FolderFiles?>(nil)
  /// The index of the file that was opened last.
  private let lastOpened = Atomic<Int>(-1)

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7061_6765 << 32
  private static let ahead = 2

  init(_ file: SourceState, _ contents: any FolderContents, _ conversions: Conversions) {
    self.file = file
    self.contents = contents
    self.conversions = conversions
    var hash = StableHash(seed: Self.mark)
    hash.combine(contents.view.utf8)
    identity = hash.adding(contents.mark).value
    inode = file.inode(Self.mark, identity)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  private func files(_ blocking: BlockingMode) throws(Fault) -> FolderFiles {
    if let known = known.withLock({ $0 }) { return known }
    try conversions.known.load(blocking)
    let files = try contents.files(of: file, conversions, blocking)
    known.withLock { $0 = files }
    return files
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let files = try files(blocking)
    guard let made = made(name, among: files) else { return nil }
    return LookupResult(made, try made.attributes(blocking))
  }

  private func made(_ name: FileName, among files: FolderFiles) -> RenditionFile? {
    guard let recipe = files.recipe(name) else { return nil }
    let size = conversions.catalogue.conversion(recipe.verb)?.size ?? .atMostSource
    return RenditionFile(
      file, recipe, conversions, view: contents.view, estimate: size.estimate(fromFileOf: file.attributes.size)
    ) { [self] in
      if let number = files.number(name) { prepare(after: number, among: files) }
    }
  }

  /// Begins the conversion of the next files if files are opened in sequence.
  private func prepare(after number: Int, among files: FolderFiles) {
    guard lastOpened.exchange(number, ordering: .relaxed) == number - 1 else { return }
    for next in number + 1..<max(number + 1, min(files.count, number + 1 + Self.ahead)) {
      guard let recipe = files.recipe(files.name(next)) else { continue }
      conversions.renditions.prepare(recipe, of: file.subject)
    }
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { FileListing(self, try files(blocking)) }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var provenance = file.provenance(
      view: contents.view, conversions.renditions.failure(of: contents.question, inState: file.revision))
    try provenance.adopt(file.source.item.provenance(blocking))
    return provenance
  }

  private final class FileListing: DirectoryCursor {
    private let folder: MadeFolder
    private let files: FolderFiles
    private static let blockSize = 256

    init(_ folder: MadeFolder, _ files: FolderFiles) {
      self.folder = folder
      self.files = files
    }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < files.count else { return [] }
      return (Int(place)..<min(files.count, Int(place) + Self.blockSize)).compactMap { index in
        let name = files.name(index)
        guard let made = folder.made(name, among: files) else { return nil }
        return ListedEntry(name: ListedName(name), inode: made.inode, kind: .file, next: Int64(index) + 1)
      }
    }
  }
}
