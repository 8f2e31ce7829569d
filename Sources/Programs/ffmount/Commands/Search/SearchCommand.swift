import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Glibc
import Locks
import SystemPackage

extension FileTree.IndexingProgress {
  /// Says on standard error how many files and directories below a path could not be read. Says nothing if all could.
  func logFailures(in path: String) {
    if failures == 0 { return }
    let things = failures == 1 ? "1 file or folder" : "\(failures) files or folders"
    let remedy = "to see why: ffmount verify \(ShellWord.quoted(RunningMount.original(of: path) ?? path))"
    Terminal.logError("\(path): \(things) could not be read completely: found by name only (\(remedy))")
  }
}

/// `ffmount search FOLDER QUERY`: lists the documents below a folder that match, or the messages of a mailbox.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds files, pages, messages and entries of archives.",
    usage: "ffmount search FOLDER QUERY… [--limit N] [-l | -0 | --json | --open N] [--mail] [-o OPTIONS]",
    discussion: """
      Searches everything below a folder: names, texts, mail, and archives at any depth. A query is \
      \(FileTree.documentSyntax) Prints the best first: path, date, kind or sender, and title, separated by tabs; on a \
      terminal with the words found. Exits with status 1 if nothing matches, and with a larger one after an error, such as 64 for an invalid query. The first search indexes the folder, and \
      later ones only what has changed. In a mailbox or a Maildir, prints one line per message, newest first: its \
      folder, date, sender and subject.
      """)

  @Argument(help: ArgumentHelp("A folder, or a mailbox.", valueName: "folder"), completion: .file())
  var archive: String

  @Argument(parsing: .allUnrecognized, help: "The query; several words form one query.")
  var query: [String]

  @Flag(help: "Print a JSON array of objects, or an object with an error.")
  var json = false

  @Flag(help: "Search only the mail in or below a folder, as in a mailbox.")
  var mail = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The maximum number of results: 20 of a folder on a terminal, otherwise all.", valueName: "N"))
  var limit: Int?

  @Flag(name: .customShort("l"), help: "Print only the paths.")
  var paths = false

  @Flag(name: .customShort("0"), help: "Print only the paths, each followed by a NUL byte.")
  var zeros = false

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Show the result with this number in its program.", valueName: "N"))
  var open: Int?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "shared_cache=FOLDER with the parts of an index, and source_id=NAME. For an address: those of its server.",
      valueName: "options"))
  var options: [String] = []

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: [archive], toDo: "search")
    if let limit, limit < 1 { throw Refusal(.usage, "--limit \(limit): expected 1 or more") }
    if let open, open < 1 { throw Refusal(.usage, "--open \(open): expected 1 or more") }
    let forms = [(json, "--json"), (paths, "-l"), (zeros, "-0"), (open != nil, "--open")].filter(\.0).map(\.1)
    if forms.count > 1 { throw Refusal(.usage, "\(forms[0]) excludes \(forms[1]) (give one of them)") }
    if query.first != "--", let option = terms.first(where: { $0.hasPrefix("--") }) {
      throw Refusal(.usage, "Unknown option '\(option)' (type ffmount help search for the usage)")
    }
    let query = terms.joined(separator: " ")
    if let last = terms.last, unsafe access(archive, F_OK) != 0, unsafe access(last, F_OK) == 0 {
      throw Refusal(
        .sourceMissing,
        "cannot read \(archive): \(describe(ENOENT)) (the folder comes first: ffmount search FOLDER QUERY)")
    }
    let elsewhere = try SourceElsewhere.of(archive, options, toDo: "search")
    let place = try CommandTree(
      elsewhere?.path ?? archive, TreeOptions(options, accepting: TreeOptions.ofSharedCaches))
    try place.expectReadable(elsewhere?.path ?? archive)
    let isOfDocuments = !mail && !CommandTree.isOfMail(elsewhere?.path ?? archive)
    if let objection = FileTree.objection(to: query, ofMail: !isOfDocuments) {
      let advice = objection.hasSuffix(")") ? "" : " (see: ffmount help search)"
      throw Refusal(.usage, "cannot search \(archive): \(objection)\(advice)")
    }
    if isOfDocuments { return try findDocuments(place) }
    try findMessages(place)
  }

  /// The query without the `--` that ends the options.
  private var terms: ArraySlice<String> { query.first == "--" ? query.dropFirst() : query[...] }

  /// Whether standard output is piped to another program, which may draw on the same terminal.
  private static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private func findMessages(_ place: CommandTree) throws {
    let query = terms.joined(separator: " ")
    let writer = UnfairLock(ResultWriter(HitLines(style), atMost: limit ?? .max, opening: open))
    var progress = ProgressLine(archive, size: 0, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    do throws(FileTreeError) {
      try place.finish { (tree, path) throws(FileTreeError) in
        for try await message in tree.messages(matching: query, in: path) {
          if !writer.withLock({ $0.take(message) }) { break }
        }
      } watch: {
        if let work = place.tree.activities.first(where: { $0.work != .converting }), let bytes = work.bytes {
          progress.show(bytes: bytes, of: work.size ?? 0)
        }
      }
    } catch {
      progress.clear()
      if error.code == .unsupported {
        let remedy = mail ? "give a mailbox, or a folder without --mail" : "give a mailbox, or the folder it is in"
        throw Refusal(.sourceUnsuitable, "cannot search \(archive): \(error.sentence) (\(remedy))")
      }
      throw Refusal(.searchFailure, "cannot search \(archive): \(error.sentence)")
    }
    progress.clear()
    try finish(writer, "messages", none: "no message in \(archive) matches \(query)")
  }

  private func findDocuments(_ place: CommandTree) throws {
    let query = terms.joined(separator: " ")
    let style = style
    let writer = UnfairLock(
      ResultWriter(
        DocumentLines(archive, place.path, style), atMost: limit ?? (style == .shown ? Self.usualLimit : .max),
        opening: open))
    let similar = UnfairLock<String?>(nil)
    let locked = UnfairLock(0)
    let reach = UnfairLock<FileTree.IndexingProgress?>(nil)
    var progress = ProgressLine(archive, size: 0, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    do throws(FileTreeError) {
      try place.finish { (tree, path) throws(FileTreeError) in
        let found = tree.documents(matching: query, in: path, snippets: style == .shown || style == .json) { now in
          reach.withLock { $0 = now }
        }
        for try await document in found {
          if !writer.withLock({ $0.take(document) }) { break }
        }
        if !json {
          let files = try await tree.lockedFiles(in: path)
          locked.withLock { $0 = files }
        }
        if writer.withLock({ $0.count }) == 0 {
          let word = try await tree.similarWord(for: query, in: path)
          similar.withLock { $0 = word }
        }
      } watch: {
        if let reach = reach.withLock({ $0 }), !reach.isDone { progress.show(bytes: reach.bytesDone, of: reach.bytes) }
      }
    } catch {
      progress.clear()
      // Some results may have been written.
      if writer.withLock({ $0.count }) > 0 { writer.withLock { $0.finish() } }
      throw Refusal(.searchFailure, "cannot search \(archive): \(error.sentence)")
    }
    progress.clear()
    if reach.withLock({ $0 }) == nil {
      let reason = options.isEmpty ? "is being indexed by another process" : "is not indexed completely"
      Terminal.logError("\(archive) \(reason): some results may be missing")
    }
    defer {
      reach.withLock { $0 }?.logFailures(in: archive)
      let files = locked.withLock { $0 }
      if files > 0 {
        Terminal.logError("\(files == 1 ? "1 file is" : "\(files) files are") locked: found by name only")
      }
    }
    let hint = similar.withLock { $0 }.map { " (did you mean \($0)?)" } ?? ""
    try finish(writer, "results", none: "nothing in \(archive) matches \(query)\(hint)")
  }

  /// Shows the result to open, or ends the lines. Throws if there is none.
  ///
  /// - Parameter none: the sentence that says so.
  private func finish<Lines: ResultLines>(
    _ writer: borrowing UnfairLock<ResultWriter<Lines>>, _ things: String, none: String
  ) throws {
    let written = writer.withLock { writer in
      if open == nil { writer.finish() }
      return writer
    }
    if let path = written.chosen { return try show(path) }
    if let open, written.count > 0 {
      throw Refusal(
        .usage, "--open \(open): only \(written.count) results match \(terms.joined(separator: " "))")
    }
    if let error = written.lines.error {
      throw Refusal(.searchFailure, "cannot search \(archive): its \(things) cannot be printed: \(describe(error))")
    }
    if written.count == 0 {
      Terminal.logError(none)
      throw ExitCode(ExitStatus.failure.rawValue)
    }
  }

  /// The form of the output.
  private var style: DocumentLines.Style {
    json ? .json : zeros ? .paths(zeros: true) : paths ? .paths(zeros: false) : Terminal.isOne() ? .shown : .fields
  }

  private static let usualLimit = 20

  /// Opens a result: a real file by the desktop, another in a mount of its file.
  private func show(_ path: String) throws {
    var status = stat()
    guard unsafe stat(path, &status) == 0, let opener = Subprocess.path(of: "xdg-open") else {
      Swift.print(path)
      return
    }
    guard Subprocess.detach(opener, [path]) != nil else {
      throw Refusal(.searchFailure, "cannot show \(path): \(opener): \(describe(errno))")
    }
  }
}
