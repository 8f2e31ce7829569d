import ArgumentParser
import Assembly
import FileTrees
import Glibc
import Synchronization

/// `ffmount search ARCHIVE QUERY`: lists the contents of `ARCHIVE.views/search/QUERY/` without a mount.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds messages in a mailbox or a folder of mail.",
    usage: "ffmount search ARCHIVE QUERY… [--json]",
    discussion: """
      A query is \(FileTree.querySyntax) Prints one line per message, newest first: its folder, date, sender and \
      subject, separated by tabs. Exits with status 1 if no message matches. The first search indexes the text of the mailbox. The index is kept.
      """)

  @Argument(help: "A mailbox, a Maildir, or another folder of messages or mailboxes.", completion: .file())
  var archive: String

  @Argument(parsing: .allUnrecognized, help: "The query; several words form one query.")
  var query: [String]

  @Flag(help: "Print a JSON array of objects, or an object with an error.")
  var json = false

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: [archive], toDo: "search")
    let place = try CommandTree(archive)
    let lines = Mutex(HitLines(isJSON: json))
    let query = terms.joined(separator: " ")
    var progress = ProgressLine(archive, size: 0, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    do throws(FileTreeError) {
      try place.finish { (tree, path) throws(FileTreeError) in
        for try await message in tree.messages(matching: query, in: path) {
          guard lines.withLock({ $0.add(message) }) else { break }
        }
      } watch: {
        if let work = place.tree.activities.first(where: { $0.work != .converting }), let bytes = work.bytes {
          progress.show(bytes: bytes, of: work.size ?? 0)
        }
      }
    } catch {
      progress.clear()
      throw Refusal(.failure, "cannot search \(archive): \(error.sentence)")
    }
    progress.clear()
    lines.withLock { $0.finish() }
    if let error = lines.withLock({ $0.error }) {
      throw Refusal(.failure, "cannot search \(archive): its messages cannot be printed: \(describe(error))")
    }
    if lines.withLock({ $0.count }) == 0 {
      Terminal.logError("no message in \(archive) matches \(query)")
      throw ExitCode(ExitStatus.failure.rawValue)
    }
  }

  /// The query without the `--` that ends the options.
  private var terms: ArraySlice<String> { query.first == "--" ? query.dropFirst() : query[...] }

  /// Whether standard output is piped to another program, which may draw on the same terminal.
  private static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }
}
