import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Glibc
import Locks
import SystemPackage

/// `ffmount verify PATH`: compares all bytes in archives, mailboxes and compressed files with their checksums.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Finds damaged files in archives, mailboxes and compressed files.",
    usage: "ffmount verify PATH [--json] [-o options]",
    discussion: """
      Archives in archives are read as well. Prints one line for each file that cannot be read or has a wrong \
      checksum, and a summary on standard error. Exits with status 1 if there is such a file.
      """)

  @Argument(
    help: "An archive, a mailbox, a compressed file, or a folder that is searched for them.", completion: .file())
  var path: String

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "password_file=FILE with passwords, one per line. For an address: the options of its server, as for mounts.",
      valueName: "options"))
  var options: [String] = []

  @Flag(help: "Print a JSON object, or an object with an error.")
  var json = false

  func run() throws {
    if try !verify() { throw ExitCode(ExitStatus.failure.rawValue) }
  }

  /// Returns an address without its last component.
  private static func parent(_ address: String) -> String {
    String(address[..<(address.lastIndex(of: "/") ?? address.startIndex)])
  }

  /// Returns whether everything could be read.
  private func verify() throws -> Bool {
    try RunningMount.expectAnswers(onTheWayTo: [path], toDo: "verify")
    let mounts = MountTable()
    if let original = RunningMount.original(of: path, mounts) {
      let command = "ffmount verify \(ShellWord.quoted(original))"
      throw Refusal(.sourceUnsuitable, "cannot verify \(path): in a mount of ffmount (type: \(command))")
    }
    let more = try TreeOptions(options, accepting: TreeOptions.ofPasswords)
    let elsewhere = try SourceElsewhere.of(path, options, toDo: "verify")
    let place = try CommandTree(elsewhere?.path ?? path, depth: VerifyWalk.depth, more)
    try place.expectReadable(elsewhere?.path ?? path)
    let folder = elsewhere == nil ? FilePath(path).removingLastComponent().string : Self.parent(path)
    let prefix = place.path.isEmpty ? path : folder
    let report = UnfairLock(VerifyReport(prefix: prefix, isJSON: json))
    var progress = ProgressLine(path, size: 0, output: STDERR_FILENO, isShown: !json)
    let (isFolder, root) = (place.isFolder, place.root)
    let shown = Set(mounts.ours.map(\.mountpoint))
    do throws(FileTreeError) {
      try place.finish { (tree, path) throws(FileTreeError) in
        let walk = VerifyWalk(tree: tree) { path in
          let real = root.appending(path.components)
          if shown.contains(real.string) { return "a mount of ffmount, which is not read (verify its source)" }
          return unsafe real.withPlatformString { unsafe access($0, R_OK) } == 0 ? nil : describe(errno)
        } lack: { path in
          path.lastComponent.flatMap { AbsentConversions.reason(forContentsOfFileNamed: $0.string) }
            .map { "not verified: \($0)" }
        } note: { event in
          report.withLock { $0.note(event) }
        }
        if isFolder { try await walk.folder(path) } else { try await walk.file(path) }
      } watch: {
        let (done, total) = report.withLock { ($0.done, $0.total) }
        progress.show(bytes: done, of: total)
      }
    } catch {
      progress.clear()
      let (status, advice) =
        error.code == .unsupported ? (ExitStatus.sourceUnsuitable, " (give one, or a folder)") : (.failure, "")
      let lack = isFolder ? nil : AbsentConversions.reason(forFoldersOfFileAt: path)
      throw Refusal(status, "cannot verify \(path): \(lack ?? error.sentence + advice)")
    }
    progress.clear()
    return try report.withLock { report in
      report.finish()
      if let error = report.error {
        throw Refusal(.failure, "cannot verify \(path): the result cannot be printed: \(describe(error))")
      }
      let summary = "\(Terminal.shown(path)): \(report.summary)\n"
      if !json { try? Output.write(Array(summary.utf8), to: STDERR_FILENO) }
      return report.badCount == 0
    }
  }
}
