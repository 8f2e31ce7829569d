internal import Bytes
internal import Catalogue
internal import Jobs
internal import Locks
internal import Synchronization
internal import Tree

/// The content of a directory whose files are all derived from one file.
protocol DirectoryContents: Sendable {
  /// The value of `user.ffmount.view`.
  var view: String { get }
  /// The identifiers of the directory among those of one file.
  var key: DirectoryKey { get }
  /// The job that determines the directory's entries. `nil` if none is needed.
  var job: Job.Work? { get }

  /// Returns whether a file can have this name, without determining the files: a lookup of another name starts no job.
  func mayHave(_ name: FileName) -> Bool

  /// Determines the files.
  func files(of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode) throws(Fault) -> DerivedFiles
}

extension DirectoryContents {
  func mayHave(_ name: FileName) -> Bool { true }
}

/// The identifiers of a derived directory. Changing them changes inode numbers.
struct DirectoryKey: Sendable {
  /// A constant that avoids collisions with the inode numbers of other views of the file.
  let family: UInt64
  /// A value that differs between directories of a family.
  let part: UInt64
  let identity: UInt64
}

extension DirectoryKey {
  /// The key of a directory of a view whose files depend on `mark`.
  init(_ view: String, _ mark: UInt64) {
    var hash = StableHash(seed: Self.pages)
    hash.combine(view.utf8)
    identity = hash.adding(mark).value
    family = Self.pages
    part = identity
  }

  private static let pages: UInt64 = 0x7061_6765 << 32
}

/// The files of such a directory.
struct DerivedFiles: Sendable {
  /// The number of listed files.
  let count: Int
  let name: @Sendable (Int) -> FileName
  /// Returns the recipe of the file with a name, listed or not. Returns `nil` if it does not exist.
  let recipe: @Sendable (FileName) -> Recipe?
  /// Returns the index of the listed file with a name, if the next files are to be converted ahead of a sequential
  /// reader.
  var number: @Sendable (FileName) -> Int? = { _ in nil }

  /// Returns the recipes of listed files.
  fileprivate func recipes(_ range: Range<Int>) -> [Recipe] { range.compactMap { recipe(name($0)) } }
}

/// A directory of files that are derived from another file: its pages, sheets, tracks, pieces, or segments for players.
final class DerivedDirectory: DerivedItem {
  let file: SourceState
  private let contents: any DirectoryContents
  private let conversions: Conversions
  private let known = UnfairLock<DerivedFiles?>(nil)
  /// The index of the file that was opened last.
  private let lastOpened = Atomic<Int>(-1)
  /// The index of the first file that no series of the sequential reader contains.
  private let endOfSeries = Atomic<Int>(0)

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }

  /// The number of files that are converted ahead of a sequential reader.
  private static let ahead = 2

  init(_ file: SourceState, _ contents: any DirectoryContents, _ conversions: Conversions) {
    self.file = file
    self.contents = contents
    self.conversions = conversions
    let key = contents.key
    identity = key.identity
    inode = file.inode(key.family, key.part)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  private func files(_ blocking: BlockingMode) throws(Fault) -> DerivedFiles {
    if let known = known.withLock({ $0 }) { return known }
    try conversions.known.load(ofState: file.revision, blocking)
    let files = try contents.files(of: file, conversions, blocking)
    known.withLock { $0 = files }
    return files
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard contents.mayHave(name), let made = made(name, among: try files(blocking)) else { return nil }
    return LookupResult(made, try made.attributes(blocking))
  }

  private func made(_ name: FileName, among files: DerivedFiles) -> RenditionFile? {
    guard let recipe = files.recipe(name) else { return nil }
    let size = conversions.catalogue.conversion(recipe.verb)?.size ?? .atMostSource
    let number = files.number(name)
    return RenditionFile(
      file, recipe, conversions, view: contents.view, estimate: size.estimate(fromFileOf: file.attributes.size),
      place: number.map { (identity, $0) }
    ) { [self] in
      if let number { prepare(after: number, among: files) }
    }
  }

  /// Begins the conversion of the next files if files are opened in sequence.
  private func prepare(after number: Int, among files: DerivedFiles) {
    let last = lastOpened.exchange(number, ordering: .relaxed)
    if last == number { return }
    guard last == number - 1 else { return endOfSeries.store(0, ordering: .relaxed) }
    let start = max(number + 1, endOfSeries.load(ordering: .relaxed))
    // Another series begins when the reader is in the middle of one.
    if start - number > Job.longestSeries / 2 { return }
    func next(_ count: Int) -> [Recipe] { files.recipes(start..<max(start, min(files.count, start + count))) }
    if let first = next(1).first, conversions.renditions.comesInSeries(first, of: file.subject) {
      // The first file is often the only one that is read.
      if last < 0 { return }
      let series = next(Job.longestSeries)
      endOfSeries.store(start + series.count, ordering: .relaxed)
      return conversions.renditions.prepareSeries(series, of: file.subject)
    }
    for recipe in next(Self.ahead) { conversions.renditions.prepare(recipe, of: file.subject) }
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    let files = try files(blocking)
    return IndexedCursor(count: files.count) { [self] index in
      let name = files.name(index)
      return made(name, among: files).map { (name, $0.inode, .file) }
    }
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var failure = knownFailure
    if failure == nil, contents.job != nil, !file.source.isConcealed {
      // Not known before the files are.
      do throws(Fault) { _ = try files(blocking) } catch {
        guard error.concernsContent else { throw error }
        failure = error
      }
    }
    return try provenance(failure, blocking)
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try provenance(knownFailure, blocking)
  }

  private var knownFailure: Fault? {
    contents.job.flatMap { conversions.renditions.failure(of: $0, inState: file.revision) }
  }

  private func provenance(_ failure: Fault?, _ blocking: BlockingMode) throws(Fault) -> Provenance {
    var provenance = file.provenance(view: contents.view, failure)
    try provenance.adopt(file.source.item.knownProvenance(blocking))
    if let job = contents.job {
      provenance.adopt(conversions.known.remark(of: job, inState: file.revision), on: file.path)
    }
    return provenance
  }
}
