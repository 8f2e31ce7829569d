package import Bytes
internal import Files
internal import Glibc
internal import Index
internal import Synchronization
internal import Threads
internal import Tree

/// Brings the index of the documents below a folder up to date: reads what is new or has changed, and forgets the rest.
///
/// It can be stopped at any time, also by killing the process. The next one continues.
package final class FolderCrawl: Sendable {
  private let folder: ResolvedPath
  private let index: DocumentParts
  /// The only file that is read. `nil` if everything in the folder is.
  private let file: FileName?
  /// The maximum number of files to read that are known at a time.
  private let batch: Int
  private let progress = Monitor(Progress())
  private let isStopped = Atomic<Bool>(false)
  /// Returns whether the work may continue now. `nil` if it always may.
  private let isPermitted: (@Sendable () -> Bool)?

  /// The progress of the work.
  package struct Progress: Sendable {
    /// Whether all names are known, and so the total of what has to be read.
    package var isScanned = false
    /// The number and size of the files to read, and of those that have been read.
    package var files = 0
    package var bytes: Int64 = 0
    package var filesDone = 0
    package var bytesDone: Int64 = 0
    /// The number of files that are indexed already.
    package var unchanged = 0
    /// The number of files of which a part could not be read.
    package var failures = 0
    package var isDone = false
    /// The fault that ended it early.
    package var fault: Fault?

    package init() {}

    /// The percentage of the bytes that have been searched, below 100 until all have been.
    package var percent: Int {
      if isDone, fault == nil { return 100 }
      guard isScanned, bytes > 0 else { return 0 }
      return min(99, Int(Double(bytesDone) / Double(bytes) * 100))
    }
  }

  /// The number of files that a mount reads at a time, and the niceness of the threads that do.
  static let usualWidth = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  static let niceness: Int32 = 10

  /// The version of the documents made here, incremented when a text or a word changes.
  package static let version: UInt64 = 6

  /// - Parameters:
  ///   - folder: a real directory in a tree whose views convert files.
  ///   - isPermitted: Returns whether the work may continue now. It is called often. `nil` if it always may.
  init(
    _ folder: ResolvedPath, _ index: DocumentParts, only file: FileName? = nil, batch: Int = 50_000,
    isPermitted: (@Sendable () -> Bool)? = nil
  ) {
    self.folder = folder
    self.index = index
    self.file = file
    self.batch = batch
    self.isPermitted = isPermitted
  }

  package var reach: Progress { progress.read { $0 } }

  /// Ends the work soon. What has been read is kept.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    progress.update { _ in }
  }

  // MARK: Scan

  /// A file to read.
  private struct File: Sendable {
    let path: [UInt8]
    let state: DocumentSource.State
    let isFolder: Bool
    /// The part of the index to which it belongs.
    let part: DocumentParts.Part
    /// Whether the index has the source in an earlier state.
    let isKnown: Bool
  }

  /// The result of a scan.
  private struct Scan {
    /// The first files to read, at most `batch`.
    var changed: [File] = []
    /// The number and size of all files to read.
    var files = 0
    var bytes: Int64 = 0
    var unchanged = 0
    var hasMore = false
  }

  /// Returns the sources in the index, by the number of their part. O(n).
  private func knownSources() throws(Fault) -> [Int: KnownSources] {
    var all: [Int: KnownSources] = [:]
    for part in index.parts {
      var sources = KnownSources()
      sources.reserve(part.index.sourceCounts?.all ?? 0)
      guard part.index.forEachSource({ sources.add($0) }) else { throw .noDocumentIndex }
      all[part.number] = sources
    }
    return all
  }

  /// Compares the real files of the parts of the index with it. O(n).
  private func scan(_ sources: inout [Int: KnownSources]) throws(Fault) -> Scan {
    guard let root = folder.realFolder else { throw Fault(.unsupported, "it is not a real folder") }
    var scan = Scan()
    if let file {
      if let found = try root.child(named: file, .blocking), found.attributes.kind == .file {
        note(Array(file.bytes), .init(found.attributes), isFolder: false, &sources, &scan)
      }
      return scan
    }
    note([], .init(folder: try root.attributes(.blocking)), isFolder: true, &sources, &scan)
    var folders: [(folder: RealFolder, path: [UInt8])] = [(root, [])]
    while let (folder, path) = folders.popLast() {
      // A directory that cannot be read is skipped.
      guard let listing = try unlessDelayed({ () throws(Fault) in try folder.listing(.blocking) }) else { continue }
      let isInView = try Self.isView("", in: folder, folder.inode)
      var place: Int64 = 0
      while let entries = try unlessDelayed({ () throws(Fault) in try listing.entries(after: place, .blocking) }),
        let last = entries.last
      {
        place = last.next
        try check()
        for entry in entries where entry.kind == .file || entry.kind == .folder {
          let name = entry.name.bytes
          let inner = path + Array(name)
          if entry.kind == .folder {
            if Self.isSkipped(inner) { continue }
            guard
              let found = try unlessDelayed({ () throws(Fault) in
                try folder.child(named: entry.name.fileName, .blocking)
              }) ?? nil, let next = found.item as? RealFolder
            else { continue }
            if !isInView, try Self.isView(entry.name.fileName, in: folder, found.attributes.inode) { continue }
            folders.append((next, inner + [Self.slash]))
            note(inner + [Self.slash], .init(folder: found.attributes), isFolder: true, &sources, &scan)
          } else {
            guard index.part(of: inner) != nil,
              let attributes = try unlessDelayed({ () throws(Fault) in
                try folder.attributes(of: entry.name, .blocking)
              }) ?? nil
            else { continue }
            if !isInView, try Self.isView(entry.name.fileName, in: folder, attributes.inode) { continue }
            note(inner, .init(attributes), isFolder: false, &sources, &scan)
          }
        }
      }
    }
    return scan
  }

  /// Returns whether an entry of a real folder is a view in another mount of ffmount, whose source is searched instead.
  /// The inode numbers of views have the top bit. The name of the folder itself is empty.
  private static func isView(_ name: FileName, in folder: RealFolder, _ inode: UInt64) throws(Fault) -> Bool {
    guard inode >> 63 != 0 else { return false }
    return try unlessDelayed { () throws(Fault) in
      try folder.extendedAttribute("user.ffmount.view", of: name)
    } != nil
  }

  /// Returns whether neither a folder nor a file that contains other documents has changed. Other files are not
  /// examined.
  private func isCurrentInOutline() throws(Fault) -> Bool {
    guard let root = folder.realFolder else { return false }
    var leading: [DocumentSource] = []
    for part in index.parts {
      guard part.index.forEachSource(isLeadingOnly: true, { leading.append($0) }) else { throw .noDocumentIndex }
    }
    for source in leading {
      try check()
      let name = source.path.last == Self.slash ? source.path.dropLast() : source.path[...]
      let attributes = try unlessDelayed { () throws(Fault) in
        name.isEmpty
          ? try root.attributes(.blocking) : try root.attributes(of: ListedName(FileName(name)), .blocking)
      }
      guard let attributes = attributes ?? nil else { return false }
      let state =
        source.kind == .folder ? DocumentSource.State(folder: attributes) : DocumentSource.State(attributes)
      if state != source.state { return false }
    }
    return true
  }

  /// Returns the number of sources in a large complete index whose outline is current. Returns `nil` for another index.
  private func sourcesIfCurrentInOutline() throws(Fault) -> Int? {
    var all = 0
    for part in index.parts {
      guard let sources = part.index.sourceCounts, sources.open == 0 else { return nil }
      all += sources.all
    }
    guard all > Self.fewSources else { return nil }
    return try isCurrentInOutline() ? all : nil
  }

  /// The number of sources up to which all of them are examined before each search.
  private static let fewSources = 20_000

  private func note(
    _ path: [UInt8], _ state: DocumentSource.State, isFolder: Bool, _ sources: inout [Int: KnownSources],
    _ scan: inout Scan
  ) {
    guard let part = index.part(of: path), let (isCurrent, isKnown) = sources[part.number]?.see(path, state) else {
      return
    }
    if isCurrent {
      scan.unchanged += 1
      return
    }
    scan.files += isFolder ? 0 : 1
    scan.bytes = Bounds.sum(scan.bytes, isFolder ? 0 : state.size)
    guard scan.changed.count < batch else {
      scan.hasMore = true
      return
    }
    sources[part.number]?.take(path, state)
    scan.changed.append(File(path: path, state: state, isFolder: isFolder, part: part, isKnown: isKnown))
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns whether a folder has only data of this program.
  private static func isSkipped(_ path: [UInt8]) -> Bool {
    path.suffix(14) == Array(".cache/ffmount".utf8)[...]
  }

  private func check() throws(Fault) {
    while true {
      if isStopped.load(ordering: .relaxed) { throw .interrupted }
      try CancellationToken.check()
      guard let isPermitted, !isPermitted() else { return }
      _ = progress.take(within: Self.pause) { [self] _ in isStopped.load(ordering: .relaxed) ? () : nil }
    }
  }

  /// The time after which work that is not permitted asks again.
  private static let pause = Duration.seconds(1)

  // MARK: Work

  /// Brings the index up to date, with `width` files at a time. `reach` has the fault if that fails. Blocks.
  ///
  /// - Parameters:
  ///   - niceness: the niceness of the threads that read. `nil` for that of this process.
  ///   - isQuick: whether a large complete index counts as up to date if no folder and no file that contains other
  ///     documents has changed.
  package func run(atATime width: Int, niceness: Int32? = nil, isQuick: Bool = false) {
    do throws(Fault) {
      try update(atATime: width, niceness, isQuick: isQuick)
      progress.update { $0.isDone = true }
    } catch {
      progress.update { progress in
        progress.fault = error
        progress.isDone = true
      }
    }
  }

  private func update(atATime width: Int, _ niceness: Int32?, isQuick: Bool) throws(Fault) {
    for part in index.parts {
      if let counts = part.index.counts, counts.removed > max(Self.removedAtMost, counts.documents) {
        part.index.forgetAll()
      }
    }
    if isQuick, let known = try sourcesIfCurrentInOutline() {
      progress.update { progress in (progress.isScanned, progress.unchanged) = (true, known) }
      return
    }
    var sources = try knownSources()
    var scan = try scan(&sources)
    progress.update { [scan] progress in
      progress.isScanned = true
      (progress.unchanged, progress.files, progress.bytes) = (scan.unchanged, scan.files, scan.bytes)
    }
    let forgotten = sources.flatMap { (part, sources) in sources.unseen.map { (part: part, source: $0) } }
    if scan.changed.isEmpty, forgotten.isEmpty { return }
    let writers = Dictionary(
      uniqueKeysWithValues: index.parts.map { ($0.number, DocumentWriter($0.index, share: index.parts.count)) })
    for (part, source) in forgotten { try writers[part]?.add(.forget(source)) }
    try read(scan.changed, writers, atATime: width, niceness)
    // The rest is found by further scans, so that memory is bounded.
    while scan.hasMore {
      scan = try self.scan(&sources)
      try read(scan.changed, writers, atATime: width, niceness)
    }
    index.settle()
  }

  /// Reads files, `width` at a time.
  private func read(
    _ files: [File], _ writers: [Int: DocumentWriter], atATime width: Int, _ niceness: Int32?
  ) throws(Fault) {
    let workers = ThreadPool(atMost: width)
    let running = Monitor((count: 0, fault: Fault?.none))
    defer { workers.stop() }
    for file in files {
      try check()
      running.update { $0.count += 1 }
      workers.submit { [self] in
        // The thread is not shared.
        if isPermitted != nil {
          IdleIndexing.yieldToAll()
        } else if let niceness {
          _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
        }
        var fault: Fault?
        do throws(Fault) {
          if let writer = writers[file.part.number] { try read(file, writer) }
        } catch { fault = error }
        running.update { running in
          running.count -= 1
          running.fault = running.fault ?? fault
        }
      }
      if let fault = try running.wait({ $0.count < 2 * width || $0.fault != nil ? .some($0.fault) : nil }) {
        stop()
        try running.wait { $0.count == 0 ? () : nil }
        throw fault
      }
    }
    try running.wait { $0.count == 0 ? () : nil }
    for writer in writers.values { try writer.flush() }
    if let fault = running.read({ $0.fault }) { throw fault }
  }

  /// The number of removed documents whose words may stay in an index, however few it has.
  private static let removedAtMost = 20_000

  private func read(_ file: File, _ writer: DocumentWriter) throws(Fault) {
    try check()
    let earlier = file.isKnown ? file.part.index.source(at: file.path) : nil
    if file.isFolder, earlier != nil || file.path.isEmpty {
      try writer.add(.begin(path: file.path, file.state))
      return try writer.add(.finish(path: file.path, file.state, .folder, error: []))
    }
    var known: [[UInt8]: KnownDocument] = [:]
    if let earlier { known = file.part.index.documents(of: earlier.id) }
    try writer.add(.begin(path: file.path, file.state))
    let isSame = earlier?.state == file.state
    let hasGrown = earlier.map { $0.state.inode == file.state.inode && $0.state.size < file.state.size } ?? false
    let isMailbox = [".mbox", ".mbx"].contains { file.path.suffix($0.utf8.count) == Array($0.utf8)[...] }
    var reader = DocumentReader(
      known: known, knowsAll: earlier?.isDone ?? false, trustsPaths: isSame || hasGrown && isMailbox
    ) {
      (documents) throws(Fault) in
      try self.check()
      try writer.add(.add(path: file.path, documents))
    }
    var error: [UInt8] = []
    do throws(Fault) {
      try read(file, &reader)
      if let found = reader.error {
        error = found.path + Array(": \(found.fault.reason)".utf8)
        progress.change { $0.failures += 1 }
      }
    } catch {
      // A file that has disappeared is forgotten next time.
      if error.isDelay || error == .noDocumentIndex { throw error }
    }
    let left = known.values.map(\.id).filter { !reader.kept.contains($0) }
    if !left.isEmpty { try writer.add(.remove(left)) }
    let kind: DocumentSource.Kind = file.isFolder ? .folder : reader.isContainer ? .container : .file
    try writer.add(.finish(path: file.path, file.state, kind, error: error))
    progress.update { progress in
      progress.filesDone += file.isFolder ? 0 : 1
      progress.bytesDone += file.isFolder ? 0 : file.state.size
    }
  }

  private func read(_ file: File, _ reader: inout DocumentReader) throws(Fault) {
    var names = file.path.split(separator: Self.slash).map { FileName($0) }
    guard let last = names.popLast() else { return }
    let parent = try waiting { () throws(Fault) in
      try ResolvedPath.find(names, in: folder.tree, from: folder, .blocking)
    }
    let found = try waiting { () throws(Fault) in try parent.child(last, .blocking) }
    if file.isFolder { return try reader.read(folder: found) }
    try reader.read(found, in: parent, path: [])
  }
}

extension DocumentSource.State {
  init(_ attributes: Attributes) {
    self.init(
      size: attributes.size, modified: attributes.modified.nanosecondsSince1970,
      changed: attributes.changed.nanosecondsSince1970, inode: Int64(bitPattern: attributes.inode))
  }

  /// The state of a folder, which changes with its names.
  init(folder attributes: Attributes) {
    self.init(
      size: 0, modified: attributes.modified.nanosecondsSince1970, changed: 0,
      inode: Int64(bitPattern: attributes.inode))
  }
}

extension Timestamp {
  fileprivate var nanosecondsSince1970: Int64 { seconds &* 1_000_000_000 &+ Int64(nanoseconds) }
}
