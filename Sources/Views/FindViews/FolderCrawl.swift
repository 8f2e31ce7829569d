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
  let folder: ResolvedPath
  let index: DocumentParts
  /// The only file that is read. `nil` if everything in the folder is.
  let file: FileName?
  /// The programs that read the files.
  let programs: ReadingPrograms
  /// The maximum number of files to read that are known at a time.
  let batch: Int
  private let progress = Monitor(Progress())
  private let isStopped = Atomic<Bool>(false)
  /// Whether an attempt has failed, whose other threads then end.
  private let hasFailed = Atomic<Bool>(false)
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
    /// The number of files and directories of which a part could not be read.
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
  package static let version: UInt64 = 7

  /// - Parameters:
  ///   - folder: a real directory in a tree whose views convert files.
  ///   - isPermitted: Returns whether the work may continue now. It is called often. `nil` if it always may.
  init(
    _ folder: ResolvedPath, _ index: DocumentParts, only file: FileName? = nil, by programs: ReadingPrograms = .all,
    batch: Int = 50_000,
    isPermitted: (@Sendable () -> Bool)? = nil
  ) {
    self.folder = folder
    self.index = index
    self.file = file
    self.programs = programs
    self.batch = batch
    self.isPermitted = isPermitted
  }

  package var reach: Progress { progress.read { $0 } }

  /// Ends the work soon. What has been read is kept.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    progress.update { _ in }
  }

  /// Whether the work is stopped or has failed, so that its threads have to end.
  private var hasEnded: Bool { isStopped.load(ordering: .relaxed) || hasFailed.load(ordering: .relaxed) }

  func check() throws(Fault) {
    while true {
      if hasEnded { throw .interrupted }
      try CancellationToken.check()
      guard let isPermitted, !isPermitted() else { return }
      _ = progress.take(within: Self.pause) { [self] _ in hasEnded ? () : nil }
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
    var fault: Fault?
    for _ in 0..<Self.attempts {
      let before = index.replacements
      fault = nil
      do throws(Fault) { try update(atATime: width, niceness, isQuick: isQuick) } catch { fault = error }
      guard index.replacements != before, fault == nil || fault == .noDocumentIndex else { break }
      // The documents that were written before are lost with the file.
      fault = .noDocumentIndex
      hasFailed.store(false, ordering: .relaxed)
      progress.update { $0 = Progress() }
    }
    progress.update { [fault] progress in
      progress.fault = fault
      progress.isDone = true
    }
  }

  /// The maximum number of attempts, of which each but the last finds that the index was removed or damaged.
  private static let attempts = 3

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
      progress.failures = scan.unreadable
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
    // Interrupts conversions in progress, too.
    let interest = CancellationToken { [self] in !hasEnded }
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
        interest.run {
          do throws(Fault) {
            if let writer = writers[file.part.number] { try read(file, writer) }
          } catch { fault = error }
        }
        running.update { running in
          running.count -= 1
          running.fault = running.fault ?? fault
        }
      }
      if let fault = try running.wait({ $0.count < 2 * width || $0.fault != nil ? .some($0.fault) : nil }) {
        hasFailed.store(true, ordering: .relaxed)
        progress.update { _ in }
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
      return try writer.add(.finish(path: file.path, file.state, .folder, programs: 0, error: []))
    }
    var known: [[UInt8]: KnownDocument] = [:]
    if let earlier { known = file.part.index.documents(of: earlier.id) }
    try writer.add(.begin(path: file.path, file.state))
    // Other programs may read all of it better.
    let isReadAnew = earlier.map { $0.programs != 0 && $0.programs != programs.identity } ?? false
    let isSame = earlier?.state == file.state
    let hasGrown = earlier.map { $0.state.inode == file.state.inode && $0.state.size < file.state.size } ?? false
    let isMailbox = [".mbox", ".mbx"].contains { file.path.suffix($0.utf8.count) == Array($0.utf8)[...] }
    var reader = DocumentReader(
      known: isReadAnew ? [:] : known, knowsAll: earlier?.isDone ?? false,
      trustsPaths: isSame || hasGrown && isMailbox, programs: programs
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
    // The documents that are kept were read with the same programs.
    let isInPart = reader.lacksPrograms || earlier.map { $0.programs == programs.identity } ?? false
    try writer.add(
      .finish(path: file.path, file.state, kind, programs: isInPart ? programs.identity : 0, error: error))
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
