import ArgumentParser
import Assembly
import FileTrees
import Glibc
import Locks
import SystemPackage

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
    let query = terms.joined(separator: " ")
    if let last = terms.last, unsafe access(archive, F_OK) != 0, unsafe access(last, F_OK) == 0 {
      throw Refusal(
        .sourceMissing,
        "cannot read \(archive): \(describe(ENOENT)) (the folder comes first: ffmount search FOLDER QUERY)")
    }
    let elsewhere = try SourceElsewhere.of(archive, options, toDo: "search")
    let place = try CommandTree(elsewhere?.path ?? archive, shared: SharedCache(options))
    try place.expectReadable(elsewhere?.path ?? archive)
    let isOfDocuments = place.isFolder && !mail && !isMaildir
    if let objection = FileTree.objection(to: query, ofMail: !isOfDocuments) {
      let advice = objection.hasSuffix(")") ? "" : " (see: ffmount help search)"
      throw Refusal(.usage, "cannot search \(archive): \(objection)\(advice)")
    }
    if isOfDocuments { return try findDocuments(place) }
    let lines = UnfairLock(HitLines(style))
    let (most, opened) = (open ?? limit ?? .max, open)
    let chosen = UnfairLock<(count: Int, path: String?)>((0, nil))
    var progress = ProgressLine(archive, size: 0, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    do throws(FileTreeError) {
      try place.finish { (tree, path) throws(FileTreeError) in
        for try await message in tree.messages(matching: query, in: path) {
          let count = chosen.withLock { chosen in
            chosen.count += 1
            if chosen.count == opened { chosen.path = message.path.string }
            return chosen.count
          }
          if opened == nil, !lines.withLock({ $0.add(message) }) { break }
          if count == most { break }
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
    let count = chosen.withLock { $0.count }
    if let path = chosen.withLock({ $0.path }) { return try show(path) }
    if let open, count > 0 {
      throw Refusal(.usage, "--open \(open): only \(count) results match \(query)")
    }
    lines.withLock { $0.finish() }
    if let error = lines.withLock({ $0.error }) {
      throw Refusal(.searchFailure, "cannot search \(archive): its messages cannot be printed: \(describe(error))")
    }
    if count == 0 {
      Terminal.logError("no message in \(archive) matches \(query)")
      throw ExitCode(ExitStatus.failure.rawValue)
    }
  }

  /// Whether the folder has the subfolders of a Maildir.
  private var isMaildir: Bool {
    ["cur", "new", "tmp"].allSatisfy { name in
      var status = stat()
      return unsafe stat("\(archive)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
  }

  /// The query without the `--` that ends the options.
  private var terms: ArraySlice<String> { query.first == "--" ? query.dropFirst() : query[...] }

  /// Whether standard output is piped to another program, which may draw on the same terminal.
  private static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  // MARK: Documents

  private func findDocuments(_ place: CommandTree) throws {
    let query = terms.joined(separator: " ")
    let style = style
    let most = open ?? limit ?? (style == .shown ? Self.usualLimit : .max)
    let lines = UnfairLock(DocumentLines(archive, place.path, style))
    let opened = open
    let count = UnfairLock(0)
    let chosen = UnfairLock<String?>(nil)
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
          let number = count.withLock { count in
            count += 1
            return count
          }
          if let opened {
            if number == opened { chosen.withLock { $0 = lines.withLock { $0.path(of: document) } } }
          } else if !lines.withLock({ $0.add(document) }) {
            break
          }
          if number == most { break }
        }
        if !json {
          let files = try await tree.lockedFiles(in: path)
          locked.withLock { $0 = files }
        }
        if count.withLock({ $0 }) == 0 {
          let word = try await tree.similarWord(for: query, in: path)
          similar.withLock { $0 = word }
        }
      } watch: {
        if let reach = reach.withLock({ $0 }), !reach.isDone { progress.show(bytes: reach.bytesDone, of: reach.bytes) }
      }
    } catch {
      progress.clear()
      throw Refusal(.searchFailure, "cannot search \(archive): \(error.sentence)")
    }
    progress.clear()
    if reach.withLock({ $0 }) == nil {
      let reason = options.isEmpty ? "is being indexed by another process" : "is not indexed completely"
      Terminal.logError("\(archive) \(reason): some results may be missing")
    }
    defer {
      let files = locked.withLock { $0 }
      if files > 0 {
        Terminal.logError("\(files == 1 ? "1 file is" : "\(files) files are") locked: found by name only")
      }
    }
    if let path = chosen.withLock({ $0 }) { return try show(path) }
    if let open, count.withLock({ $0 }) > 0 {
      throw Refusal(.usage, "--open \(open): only \(count.withLock { $0 }) results match \(query)")
    }
    lines.withLock { $0.finish() }
    if let error = lines.withLock({ $0.error }) {
      throw Refusal(.searchFailure, "cannot search \(archive): its results cannot be printed: \(describe(error))")
    }
    if count.withLock({ $0 }) == 0 {
      let hint = similar.withLock { $0 }.map { " (did you mean \($0)?)" } ?? ""
      Terminal.logError("nothing in \(archive) matches \(query)\(hint)")
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
