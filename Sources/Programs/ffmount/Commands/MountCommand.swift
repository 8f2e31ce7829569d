import ArgumentParser
import Assembly

/// `ffmount SOURCE MOUNTPOINT`.
struct MountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mount",
    abstract: "Shows a folder with the contents of its files: archives as trees, mailboxes as messages.",
    usage: """
      ffmount [options] SOURCE MOUNTPOINT
      ffmount -u MOUNTPOINT
      ffmount COMMAND …
      """,
    discussion: """
      All of SOURCE appears unchanged at MOUNTPOINT, read-only without -o rw. Beside NAME.zip is NAME.zip.contents/, \
      beside NAME.mbox NAME.mbox.messages/ and NAME.mbox.views/, beside NAME.eml NAME.eml.message/, beside NAME.pdf \
      NAME.pdf.pages/ and NAME.compressed.pdf, and beside an image NAME.heic NAME.heic.as-jpeg, made when it is read. \
      SOURCE may be one such file: its folder view is then mounted. It may be http://HOST:PORT, where ffmount serve \
      runs, or the address of a file or folder on a web server. ffmount formats lists all views. Unmount with: ffmount -u MOUNTPOINT, or fusermount3 -u MOUNTPOINT.

      COMMANDS (ffmount help COMMAND describes each):
      \(commands)

      A SOURCE with the name of a command needs a path: ./list.
      """)

  /// One line for each command.
  private static var commands: String {
    FFMount.configuration.subcommands.filter { $0 != MountCommand.self }.map { command in
      let name = command.configuration.commandName ?? ""
      return "  \(name)\(String(repeating: " ", count: max(1, 10 - name.count)))\(command.configuration.abstract)"
    }.joined(separator: "\n")
  }

  @Argument(help: "The folder or file to show, or the address of a server.", completion: .file())
  var source: String

  @Argument(help: "An empty folder to show it on.", completion: .directory)
  var mountpoint: String

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Mount options, separated by commas (see man ffmount).", valueName: "options"))
  var options: [String] = []

  @Option(
    name: .customLong("cache-size"),
    help: ArgumentHelp(
      "The disk space for converted files, and for blocks of files elsewhere, such as 500M or 10G (2G).",
      valueName: "size"))
  var cacheSize: String?

  @Flag(name: .customShort("f"), help: "Stay in the foreground and log to standard error.")
  var foreground = false

  @Flag(name: .customShort("d"), help: "Like -f, and show the FUSE protocol.")
  var debug = false

  @Flag(name: .customShort("s"), help: "Answer with a single thread.")
  var singleThreaded = false

  func run() throws {
    guard ServerAccess.isAddress(source) else { return try show(source) }
    if let elsewhere = try SourceElsewhere(source, self.options + cacheOption, on: mountpoint) {
      return try elsewhere.naming { try show(elsewhere.path) }
    }
    let flags = [("-f", foreground), ("-d", debug), ("-s", singleThreaded)].filter(\.1).map(\.0)
    try ServerMount.run(source, on: mountpoint, self.options, flags: flags)
  }

  private var cacheOption: [String] { cacheSize.map { ["cache_size=\($0)"] } ?? [] }

  /// Mounts a source by its path.
  private func show(_ source: String) throws {
    var options = try MountOptions(options + cacheOption)
    if singleThreaded { options.threads = 1 }
    if let keeping = Supervision.taken() {
      let plan =
        keeping.connection == nil
        ? try MountPlan(source: source, mountpoint: mountpoint, options)
        : try MountPlan(takingOver: source, mountpoint, options)
      return try plan.run(keptBy: keeping, inForeground: foreground)
    }
    let plan = try MountPlan(source: source, mountpoint: mountpoint, options)
    if !debug, plan.isKept(inForeground: foreground) {
      try plan.runKept(inForeground: foreground, again(plan))
    } else {
      try plan.run(inForeground: foreground || debug, isDebugging: debug)
    }
    if !foreground, !debug { plan.askForPassword() }
  }

  /// Returns the arguments that make the same mount, independent of the working directory.
  private func again(_ plan: MountPlan) throws -> [String] {
    let words = options + cacheOption
    return (foreground ? ["-f"] : []) + (singleThreaded ? ["-s"] : [])
      + MountOptions.withAbsolutePaths(words).flatMap { ["-o", $0] } + [plan.source, plan.mountpoint]
  }
}
