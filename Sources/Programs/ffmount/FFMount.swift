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
      MountCommand.self, OpenCommand.self, ListCommand.self, UnmountCommand.self, WhyCommand.self, IndexCommand.self,
      SearchCommand.self, StatusCommand.self, CacheCommand.self, FormatsCommand.self, ThumbnailCommand.self,
      DoctorCommand.self,
    ],
    defaultSubcommand: MountCommand.self)

  /// The words that are commands where a SOURCE might stand; argument-parser adds `help`.
  static let commandNames: [String] = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]

  /// The arguments with `unmount` for `-u`, as fusermount3 has it.
  static func withCommand(_ arguments: [String]) -> [String] {
    arguments.first == "-u" ? ["unmount"] + arguments.dropFirst() : arguments
  }

  static func main() {
    MountedTree.serveAsHelper(CommandLine.arguments)
    let arguments = Array(CommandLine.arguments.dropFirst())
    // `-V` needs no SOURCE, which argument-parser would require first.
    if arguments.first == "-V" {
      print(versionText)
      return
    }
    if ["-h", "--help"].contains(arguments.first) || arguments == ["help"] {
      print(helpMessage(for: MountCommand.self))
      return
    }
    // What scripts/completions ask.
    if arguments.first == "--complete" {
      print(Completion(of: Array(arguments.dropFirst())).text)
      return
    }
    do {
      try Misuse.check(arguments)
      // Splits `-oro,fsname=x` as FUSE users write it: argument-parser would look for its `=` first.
      var command = try parseAsRoot(
        withCommand(arguments).flatMap { $0.hasPrefix("-o") && $0.count > 2 ? ["-o", String($0.dropFirst(2))] : [$0] })
      try command.run()
      if fflush(nil) != 0, errno != EPIPE { throw Refusal(.failure, "cannot print: \(describe(errno))") }
    } catch let refusal as Refusal {
      Terminal.logError(refusal.sentence)
      exit(withError: ExitCode(refusal.status.rawValue))
    } catch {
      let code = exitCode(for: error)
      // Help, and what has told its failures already.
      if code.isSuccess || error is ExitCode { exit(withError: error) }
      Terminal.logError(Misuse.sentence(message(for: error), arguments))
      exit(withError: code)
    }
  }
}
