import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Files
import Glibc
import Index
import Jobs
import Locks
import MailViews
import Tree

/// `ffmount index PATH…`: indexes the messages of mailboxes, and the documents in folders, ahead of time.
struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Indexes mailboxes, or converts files, ahead of time.",
    usage:
      "ffmount index [--search [--mail] [--attachment-text | --ocr] [--part K/N]] [--conversions] [--jobs N] [-o OPTIONS] PATH…",
    discussion: "The first access is then as fast as later ones.")

  @Argument(help: "Mailboxes, or folders that are searched for mailboxes.", completion: .file())
  var paths: [String]

  @Flag(help: "Also index the text of the messages in a mailbox, or of all files in a folder, for searches.")
  var search = false

  @Flag(help: "With --search: of a folder only the mail, for searches of its mailboxes.")
  var mail = false

  @Flag(help: "With --search: also the text of attached PDFs, tables and text files.")
  var attachmentText = false

  @Flag(
    help:
      "With --search: also the text of attachments, with recognised text in pictures, which takes seconds per page."
  )
  var ocr = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The maximum number of attachments that are read at a time.", valueName: "N"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "With --search: index only the Kth of N parts of the documents in a folder, for N processes or machines.",
      valueName: "K/N"))
  var part: String?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "With --part: shared_cache=FOLDER and source_id=NAME, as for mounts. For an address: those of its server.",
      valueName: "options"))
  var options: [String] = []

  @Flag(help: "Make all conversions that a mount of these folders would list, so that their sizes are known.")
  var conversions = false

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: paths, toDo: "index")
    let kinds = [(ocr, "--ocr"), (attachmentText, "--attachment-text"), (mail, "--mail")]
    if let (_, name) = kinds.first(where: \.0), !search {
      throw Refusal(.usage, "\(name) is only for text indexes (add --search)")
    }
    if ocr, Converter.installed[Converter.recognition] == nil {
      let remedy = Converter.remedy([Converter.recognition])
      throw Refusal(.failure, "cannot recognize text: \(Converter.recognition) is not installed (\(remedy))")
    }
    if let jobs, !(1...256).contains(jobs) { throw Refusal(.usage, "--jobs \(jobs): expected 1 to 256") }
    let division = try division()
    let shared = try TreeOptions(options, accepting: TreeOptions.ofSharedCaches)
    if shared.isShared, division == nil {
      throw Refusal(.usage, "-o shared_cache and source_id are only for parts of an index (add --part)")
    }
    let index = try IndexFolder.index()
    defer { index.finish(within: .seconds(10)) }
    var failures: [ExitStatus] = []
    for path in paths {
      do {
        // A part has only documents. The indexes of mailboxes are each machine's own.
        let elsewhere = try SourceElsewhere.of(path, options, toDo: "index")
        let place = elsewhere?.path ?? path
        let count =
          try (division == nil ? look(through: path, at: place, index) : 0)
          + (conversions ? convert(path, at: place, index) : 0)
        if search, division != nil || !mail && !CommandTree.isOfMail(place) {
          try indexDocuments(path, at: place, division, shared)
        }
        if count > 0 { failures.append(.failure) }
      } catch let refusal as Refusal {
        Terminal.logError(refusal.sentence)
        failures.append(refusal.status)
      }
    }
    guard let first = failures.first else { return }
    // The status of a single kind of failure is as specific as that of other commands.
    throw ExitCode((failures.allSatisfy { $0 == first } ? first : .failure).rawValue)
  }

  /// The value of `--part`. `nil` if it is not given.
  private func division() throws -> FileTree.IndexPart? {
    guard let part else { return nil }
    guard search else { throw Refusal(.usage, "--part is only for search indexes (add --search)") }
    let numbers = part.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
      let division = FileTree.IndexPart(number, of: count)
    else { throw Refusal(.usage, "--part \(part): expected K/N, such as 3/16, with K from 1 to N and N at most 4096") }
    return division
  }

  /// Indexes the documents below a path that is a folder, or a part of them.
  private func indexDocuments(
    _ path: String, at local: String, _ division: FileTree.IndexPart?, _ shared: TreeOptions
  ) throws {
    let place = try CommandTree(local, shared)
    guard place.isFolder else {
      if division != nil { throw Refusal(.usage, "cannot index a part of \(path): not a folder (leave out --part)") }
      return
    }
    // The work may take hours, and yields to other processes.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
    let name = part.map { "part \($0) of \(path)" } ?? path
    var line = ProgressLine("documents in \(name)", size: 0, of: "file", done: "read")
    let progress = UnfairLock<FileTree.IndexingProgress?>(nil)
    let reach: FileTree.IndexingProgress
    do throws(FileTreeError) {
      reach = try place.finish { [ocr, jobs] (tree, path) throws(FileTreeError) in
        try await tree.indexDocuments(in: path, recognizesText: ocr, jobs: jobs, part: division) { now in
          progress.withLock { $0 = now }
        }
      } watch: {
        if let now = progress.withLock({ $0 }), !now.isDone { line.show(bytes: now.bytesDone, of: now.bytes) }
      }
    } catch {
      line.clear()
      throw Refusal(.failure, "cannot index the documents in \(path): \(error.sentence)")
    }
    line.finish(files: reach.filesDone)
    reach.logFailures(in: path)
  }

  /// Indexes the mailboxes at a path. Returns the number of failures.
  ///
  /// - Parameter local: the path on this machine, if `path` is an address.
  private func look(through path: String, at local: String, _ index: Index) throws -> Int {
    let place = try RealPlace(local)
    // The index of a folder's documents has the words of its mail, too.
    let withText = search && (mail || attachmentText || CommandTree.isOfMail(local))
    let reader = withText ? try attachmentReader(place, index) : nil
    let workers = try Converter.mailWorkers(index)
    let indexing = Indexing(index: index, attached: reader?.texts, stores: workers.map { MailStores($0) })
    defer {
      indexing.stop()
      workers?.stop()
      reader?.stop()
    }
    do {
      if let name = place.name {
        guard let search = try indexing.search(name, in: place.root) else {
          throw Refusal(.sourceUnsuitable, "cannot index \(path): not a mailbox (give a mailbox, or a folder)")
        }
        return follow(path, search, indexing, reader, withText: withText) ? 0 : 1
      }
      var failures = 0
      if let own = try indexing.search(folder: place.root, named: place.ownName) {
        failures += follow(path, own, indexing, reader, withText: withText) ? 0 : 1
      }
      try indexing.searchAll(below: place.root, named: place.ownName) { inner, found in
        let inner = path.hasSuffix("/") ? path + inner : path + "/" + inner
        switch found {
        case .success(let search): failures += follow(inner, search, indexing, reader, withText: withText) ? 0 : 1
        case .failure(let fault):
          Terminal.logError("cannot index \(inner): \(describe(fault))")
          failures += 1
        }
      }
      return failures
    } catch let fault as Fault { throw Refusal(.failure, "cannot index \(path): \(describe(fault))") }
  }

  /// Follows the indexing of a mailbox and, if requested, of its words. Returns whether all of it completed.
  private func follow(
    _ path: String, _ found: Indexing.Search, _ indexing: Indexing, _ reader: AttachmentReader?, withText: Bool
  ) -> Bool {
    guard complete(path, found, indexing) else { return false }
    guard withText else { return true }
    do throws(Fault) {
      if let reader { try read(path, found, indexing, reader) }
      return complete("text of \(path)", try indexing.words(of: found), indexing)
    } catch {
      Terminal.logError("cannot index the text of \(path): \(describe(error))")
      return false
    }
  }

  /// Shows the progress of the work until it ends. Returns whether it completed.
  private func complete(_ path: String, _ work: some BackgroundWork, _ indexing: Indexing) -> Bool {
    var line = ProgressLine(path, size: work.size)
    line.follow(work)
    let reach = work.reach
    line.finish(bytes: reach.bytes, messages: reach.messages)
    if let fault = work.fault {
      Terminal.logError("cannot index all of \(path): \(describe(fault))")
      return false
    }
    if !work.isKept {
      let obstacle = indexing.index.obstacle ?? "the index could not be written (is the disk full?)"
      Terminal.logError("cannot save the index of \(path): \(obstacle)")
      return false
    }
    return true
  }
}

func describe(_ fault: Fault) -> String {
  if case .system(let code) = fault.kind { return describe(code) }
  return fault.description
}

/// The file or directory that a command works on.
struct RealPlace {
  let root: RealRoot
  /// The last name of the path.
  let ownName: FileName
  /// The file's name in `root`. Nil if the path is a directory.
  let name: FileName?
  /// The absolute path of `root`.
  private let folder: String

  init(_ path: String) throws {
    guard let resolved = unsafe realpath(path, nil) else {
      throw Refusal(.sourceMissing, "cannot read \(path): \(describe(errno)) (check the path)")
    }
    defer { unsafe free(resolved) }
    let full = unsafe String(cString: resolved)
    var status = stat()
    let isFolder = unsafe stat(full, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    guard unsafe access(full, isFolder ? R_OK | X_OK : R_OK) == 0 else {
      let code = errno
      throw Refusal(.sourceMissing, "cannot read \(path): \(describe(code))\(Refusal.readAdvice(code))")
    }
    let slash = full.lastIndex(of: "/") ?? full.startIndex
    ownName = FileName(full[full.index(after: slash)...].utf8)
    name = isFolder ? nil : ownName
    do throws(Fault) {
      folder = isFolder ? full : slash == full.startIndex ? "/" : String(full[..<slash])
      root = try RealRoot(
        Descriptor.open(path: folder, for: .place), pool: DescriptorPool.fittingProcess(reserve: 16),
        named: MountTable().address(of: folder))
    } catch {
      throw Refusal(.sourceMissing, "cannot read \(path): \(describe(error))\(Refusal.readAdvice(error))")
    }
  }
}

extension RealPlace {
  /// Returns the file or directory whose tree has the views of this one. For a directory, that is its parent.
  func outer() throws -> RealPlace {
    guard name == nil, let slash = folder.lastIndex(of: "/"), folder != "/" else { return self }
    return try RealPlace(slash == folder.startIndex ? "/" : String(folder[..<slash]))
  }
}

/// The index shared by all mounts.
enum IndexFolder {
  static func index() throws -> Index {
    guard let folder = CacheFolder.path() else {
      throw Refusal(
        .failure, "cannot open the index: no cache folder of this user (set XDG_CACHE_HOME to an absolute path)")
    }
    return Index(folder: folder)
  }
}

extension IndexCommand {
  /// Returns `nil` if attachments are not read.
  func attachmentReader(_ place: RealPlace, _ index: Index) throws -> AttachmentReader? {
    guard attachmentText || ocr else { return nil }
    // The work may take hours, and yields to other processes.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
    let usual = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let lacking = Converter.missing.filter { ["ffarchive", "ffconvert", "ffoffice", "ffpages"].contains($0) }
    if !lacking.isEmpty {
      Terminal.logError(
        "attachments that \(lacking.joinedWithAnd) would read have no words "
          + "(\(Converter.remedy(lacking)), type: ffmount cache clear PATH, and index again)")
    }
    return try AttachmentReader(place, ocr ? .recognition : .text, index, jobs: jobs ?? usual)
  }

  private static var niceness: Int32 { 10 }

  /// Extracts the text of the attachments in a mailbox, and shows the progress.
  func read(
    _ path: String, _ found: Indexing.Search, _ indexing: Indexing, _ reader: AttachmentReader
  ) throws(Fault) {
    var messages: [FileName] = []
    try indexing.forEachMessageWithFiles(of: found) { messages.append($0) }
    if messages.isEmpty { return }
    let line = ProgressLine("attachments of \(path)", size: Int64(messages.count), of: "message", done: "read")
    let progress = UnfairLock((done: 0, line: line))
    reader.convert(messages, in: found.way) { faults in
      progress.withLock { progress in
        progress.done += 1
        progress.line.show(files: progress.done)
        if faults.isEmpty { return }
        progress.line.clear()
        for (name, fault) in faults { Terminal.logError("\(path): no text of \(name): \(describe(fault))") }
      }
    }
    progress.withLock { $0.line.finish(files: $0.done) }
  }
}

extension IndexCommand {
  /// Makes the conversions that a mount of a directory would list. Returns the number of failures.
  func convert(_ path: String, at local: String, _ index: Index) throws -> Int {
    let place = try RealPlace(local)
    guard place.name == nil else {
      throw Refusal(.usage, "cannot make the conversions of \(path): not a folder (give the folder it is in)")
    }
    let tree: Tree
    do { tree = try place.tree(index) } catch let refusal as Refusal {
      throw Refusal(refusal.status, "cannot make the conversions of \(path): \(refusal.sentence)")
    }
    defer { tree.stop() }
    let work = BatchConversion(tree)
    do throws(Fault) {
      return try make(path, work, ProgressLine(path, size: Int64(work.count())))
    } catch { throw Refusal(.failure, "cannot make the conversions of \(path): \(describe(error))") }
  }

  private func make(_ path: String, _ work: BatchConversion, _ line: ProgressLine) throws(Fault) -> Int {
    let progress = UnfairLock((done: 0, failed: 0, line: line))
    try work.forEach(atATime: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) { file, fault in
      progress.withLock { progress in
        progress.done += 1
        progress.line.show(files: progress.done)
        guard let fault else { return }
        progress.failed += 1
        progress.line.clear()
        Terminal.logError("cannot convert \(path)/\(file.path): \(describe(fault))")
      }
    }
    return progress.withLock { progress in
      progress.line.finish(files: progress.done - progress.failed)
      return progress.failed
    }
  }
}
