import ArgumentParser
import Files
import Glibc
import Mount

@main
struct FFMount: ParsableCommand {
  static let versionText = "ffmount 0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "ffmount",
    abstract: "Shows a folder with what is locked inside its files, or works on what is known of them.",
    version: versionText,
    subcommands: [
      MountCommand.self, IndexCommand.self, SearchCommand.self, StatusCommand.self, CacheCommand.self,
      FormatsCommand.self, ThumbnailCommand.self,
    ],
    defaultSubcommand: MountCommand.self)

  static func main() {
    MountedTree.serveAsHelper(CommandLine.arguments)
    let arguments = CommandLine.arguments.dropFirst()
    // `-V` needs no SOURCE, which argument-parser would require first.
    if arguments.first == "-V" {
      print(versionText)
      return
    }
    if ["-h", "--help"].contains(arguments.first) {
      print(helpMessage(for: MountCommand.self))
      return
    }
    // What scripts/completions ask.
    if arguments.first == "--complete" {
      print(Completion(of: Array(arguments.dropFirst())).text)
      return
    }
    do {
      // Splits `-oro,fsname=x` as FUSE users write it: argument-parser would look for its `=` first.
      var command = try parseAsRoot(
        arguments.flatMap { $0.hasPrefix("-o") && $0.count > 2 ? ["-o", String($0.dropFirst(2))] : [$0] })
      try command.run()
    } catch let refusal as Refusal {
      Terminal.logError(refusal.sentence)
      exit(withError: ExitCode(refusal.status.rawValue))
    } catch { exit(withError: error) }
  }
}

/// `ffmount SOURCE MOUNTPOINT`.
struct MountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mount",
    abstract: "Shows a folder with what is locked inside its files: archives as trees, mailboxes as messages.",
    usage: """
      ffmount [options] SOURCE MOUNTPOINT
      ffmount index [--search] [--conversions] PATH…
      ffmount search ARCHIVE QUERY… [--json]
      ffmount status
      ffmount cache clear [PATH…]
      ffmount formats
      """,
    discussion: """
      Everything of SOURCE is at MOUNTPOINT as it is, read-only; beside NAME.zip is NAME.zip.contents/, beside NAME.mbox \
      NAME.mbox.messages/ and NAME.mbox.views/, beside NAME.eml NAME.eml.message/, beside NAME.pdf NAME.pdf.pages/ and \
      NAME.compressed.pdf, and beside an image NAME.heic NAME.heic.as-jpeg, made when it is read. SOURCE may be one such file: then its folder is what is \
      mounted; one that is called index, search, status, cache or formats is written ./index. What there is by name, \
      ffmount formats tells. Unmount with: fusermount3 -u MOUNTPOINT
      """)

  @Argument(help: "The folder or file to show.", completion: .file())
  var source: String

  @Argument(help: "An empty folder to show it on.", completion: .directory)
  var mountpoint: String

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Mount options, separated by commas (see man ffmount).", valueName: "options"))
  var options: [String] = []

  @Option(
    name: .customLong("cache-size"),
    help: ArgumentHelp("Room for what conversions made, such as 500M or 10G (2G).", valueName: "size"))
  var cacheSize: String?

  @Flag(name: .customShort("f"), help: "Stay in the foreground and log to standard error.")
  var foreground = false

  @Flag(name: .customShort("d"), help: "Like -f, and show the FUSE protocol.")
  var debug = false

  @Flag(name: .customShort("s"), help: "Answer with a single thread.")
  var singleThreaded = false

  func run() throws {
    var options = try MountOptions(options + (cacheSize.map { ["cache_size=\($0)"] } ?? []))
    if singleThreaded { options.threads = 1 }
    let plan = try MountPlan(source: source, mountpoint: mountpoint, options)
    if foreground || debug {
      try plan.serve(isDebugging: debug, logsToTerminal: true) {}
    } else {
      try Background.run { ready in try plan.serve(isDebugging: false, logsToTerminal: false, ready: ready) }
    }
  }
}

enum Terminal {
  /// Prints one line to standard error.
  static func logError(_ sentence: String) {
    let line = Array("ffmount: \(sentence)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
