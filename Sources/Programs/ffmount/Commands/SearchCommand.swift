import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Files
import Glibc
import Index
import Jobs
import MailViews
import Tree

/// `ffmount search ARCHIVE QUERY`: what `ARCHIVE.views/search/QUERY/` would show, without a mount.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds messages in a mailbox or a folder of mail.",
    usage: "ffmount search ARCHIVE QUERY… [--json]",
    discussion: """
      A query is \(Indexing.Query.syntax) Prints a line a message, newest first: its folder, date, sender and \
      subject, with tabs between. The first search puts the words of the mailbox into an index, which is kept.
      """)

  @Argument(help: "A mailbox, a Maildir, or another folder of messages or mailboxes.", completion: .file())
  var archive: String

  @Argument(parsing: .allUnrecognized, help: "What to look for; several words are one query.")
  var query: [String]

  @Flag(help: "Print a JSON array of objects, or an object whose error says what is wrong.")
  var json = false

  func run() throws { try Refusal.reporting(asJSON: json) { try search() } }

  private func search() throws {
    try RunningMount.expectAnswers(onTheWayTo: [archive], toDo: "search")
    // Without a cache folder, the index lasts as long as this process.
    let index = Index(folder: CacheFolder.path())
    let workers = try Converter.mailWorkers(index)
    let indexing = Indexing(index: index, stores: workers.map { MailStores($0) })
    defer {
      indexing.stop()
      workers?.stop()
      index.finish(within: .seconds(2))
    }
    let place = try RealPlace(archive)
    do throws(Fault) {
      let query = try Indexing.Query(terms.joined(separator: " "))
      guard let search = try messages(of: place, indexing) else {
        throw Fault(.unsupported, place.name == nil ? "it is no folder of messages" : "it is no mailbox")
      }
      try follow(search)
      if query.needsWords { try follow(indexing.words(of: search)) }
      var lines = HitLines(isJSON: json)
      try indexing.find(query, in: search) { hit in lines.add(hit) }
      lines.finish()
      if let error = lines.error { throw Fault(.system(error), "its messages cannot be printed: \(describe(error))") }
    } catch {
      throw Refusal(.failure, "cannot search \(archive): \(describe(error))")
    }
  }

  private func messages(of place: RealPlace, _ indexing: Indexing) throws(Fault) -> Indexing.Search? {
    if let name = place.name { return try indexing.search(name, in: place.root) }
    return try indexing.search(tree: place.root, named: place.ownName)
  }

  /// The query without the `--` that ends the options.
  private var terms: ArraySlice<String> { query.first == "--" ? query.dropFirst() : query[...] }

  /// Whether standard output is piped to another program, which may draw on the same terminal.
  private static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  /// Waits for the work to end. Shows a bar, unless the output is read by a program.
  private func follow(_ work: some BackgroundWork) throws(Fault) {
    var line = ProgressLine(archive, size: work.size, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    line.follow(work)
    line.clear()
    if let fault = work.fault { throw fault }
  }
}
