internal import Bytes
internal import Catalogue
internal import Jobs
internal import Synchronization
internal import Tree

/// A folder of files that are made of a film: its tracks, its pictures, or segments for players.
final class FilmFolder: MadeItem {
  let file: SourceState
  private let contents: FilmFolderKind
  private let conversions: Conversions
  private let known = Mutex<FilmFiles?>(nil)

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }

  /// Keeps clear of the numbers of other views of the file.
  private static let mark: UInt64 = 0x6669_6c6d << 32

  init(_ file: SourceState, _ contents: FilmFolderKind, _ conversions: Conversions) {
    self.file = file
    self.contents = contents
    self.conversions = conversions
    identity = StableHash(seed: Self.mark).adding(contents.mark).value
    inode = file.inode(Self.mark, contents.mark)
  }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  private func files(_ patience: Patience) throws(Fault) -> FilmFiles {
    if let known = known.withLock({ $0 }) { return known }
    let files = try contents.files(of: file, conversions, patience)
    known.withLock { $0 = files }
    return files
  }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    guard let recipe = try files(patience).recipe(name) else { return nil }
    let made = made(recipe)
    return Found(made, try made.attributes(patience))
  }

  private func made(_ recipe: Recipe) -> RenditionFile {
    let size = conversions.catalogue.conversion(recipe.verb)?.size ?? .atMostSource
    return RenditionFile(
      file, recipe, conversions, view: contents.view, estimate: size.estimate(fromFileOf: file.attributes.size))
  }

  func listing(_ patience: Patience) throws(Fault) -> any Listing { FileListing(self, try files(patience)) }

  func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    var provenance = file.provenance(
      view: contents.view, conversions.renditions.failure(of: contents.question, inState: file.revision))
    try provenance.adopt(file.source.item.provenance(patience))
    return provenance
  }

  private final class FileListing: Listing {
    private let folder: FilmFolder
    private let files: FilmFiles
    private static let blockSize = 256

    init(_ folder: FilmFolder, _ files: FilmFiles) {
      self.folder = folder
      self.files = files
    }

    func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < files.count else { return [] }
      return (Int(place)..<min(files.count, Int(place) + Self.blockSize)).compactMap { index in
        let name = files.name(index)
        guard let recipe = files.recipe(name) else { return nil }
        return ListedEntry(
          name: ListedName(name), inode: folder.made(recipe).inode, kind: .file, next: Int64(index) + 1)
      }
    }
  }
}
