import ArgumentParser
import Assembly
import Bytes
import Files
import Glibc
import Mount

@main
struct FFMount: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ffmount",
    abstract: "Shows a folder with the contents of its files, and manages mounts, indexes and caches.",
    version: Version.text,
    subcommands: [
      MountCommand.self, OpenCommand.self, ListCommand.self, UnmountCommand.self, UpgradeCommand.self, WhyCommand.self,
      UnlockCommand.self,
      IndexCommand.self,
      SearchCommand.self, SaveCommand.self, VerifyCommand.self, ServeCommand.self, ServeUsersCommand.self,
      ServeShareCommand.self,
      DiscoverCommand.self,
      StatusCommand.self,
      CacheCommand.self,
      FormatsCommand.self, ThumbnailCommand.self, DoctorCommand.self,
    ],
    defaultSubcommand: MountCommand.self)

  /// The words that are commands in the position of a SOURCE. argument-parser adds `help`.
  static let commandNames: [String] = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]

  /// The options that stand for a command, with their meaning. argument-parser does not know them.
  static let shortcuts: KeyValuePairs = [
    "-u": UnmountCommand.configuration.abstract, "-V": "Show the version.",
  ]

  /// Returns the arguments with `unmount` instead of `-u`, which is fusermount3's option, and in a query with `NOT word`
  /// instead of `-word`, which argument-parser would divide into options.
  static func withCommand(_ arguments: [String]) -> [String] {
    switch arguments.first {
    case "-u": return ["unmount"] + arguments.dropFirst()
    // argument-parser has no commands below one that takes a SOURCE.
    case "serve" where ["users", "share"].contains(arguments.dropFirst().first):
      return ["serve \(arguments.dropFirst().first ?? "")"] + arguments.dropFirst(2)
    case "search":
      let start = arguments.prefix { $0 != "--" }
      return start.flatMap { word in
        word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2 ? ["NOT", String(word.dropFirst())] : [word]
      } + arguments.dropFirst(start.count)
    default: return arguments
    }
  }

  static func main() {
    Descriptor.fillStandard()
    MountedTree.serveAsHelper(CommandLine.arguments)
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let argument = unreadableArgument {
      fail("cannot use \(argument): it is not in UTF-8 (mount the folder that contains it)", ExitCode(64), arguments)
    }
    do {
      do { try run(arguments) } catch let status as ExitCode {
        try Output.finish()
        throw status
      }
      try Output.finish()
    } catch let refusal as Refusal {
      fail(refusal.sentence, ExitCode(refusal.status.rawValue), arguments)
    } catch {
      // The command has already reported its failures.
      if error is ExitCode { exit(withError: error) }
      if error is Fault { fail(Refusal(starting: error).sentence, ExitCode(1), arguments) }
      fail(Misuse.sentence(message(for: error), arguments), exitCode(for: error), arguments)
    }
  }

  /// The first argument that is not in UTF-8, with replacement characters. Nil if there is none.
  private static var unreadableArgument: String? {
    let index = CommandLine.arguments.indices.first { index in
      unsafe CommandLine.unsafeArgv[index].map { unsafe String(validatingCString: $0) == nil } ?? false
    }
    return index.map { CommandLine.arguments[$0] }
  }

  /// Reports an error and exits. With `--json`, the error is also printed as an object with the key `error`.
  private static func fail(_ sentence: String, _ status: ExitCode, _ arguments: [String]) -> Never {
    if Misuse.wantsJSON(arguments) { print((["error": .string(sentence)] as JSON).text) }
    Terminal.logError(sentence)
    exit(withError: status)
  }

  private static func run(_ arguments: [String]) throws {
    switch arguments.first {
    // `-V` needs no SOURCE, which argument-parser would require first.
    case "-V": return print(Version.text)
    case "-h", "--help": return print(helpMessage(for: MountCommand.self))
    case "help" where arguments.count == 1: return print(helpMessage(for: MountCommand.self))
    // Called by scripts/completions.
    case "--complete": return print(Completion(of: Array(arguments.dropFirst())).text)
    default: break
    }
    try Misuse.check(arguments)
    // Splits `-oro,fsname=x` as FUSE users write it: argument-parser would look for its `=` first.
    let words = withCommand(arguments)
      .flatMap { $0.hasPrefix("-o") && $0.count > 2 ? ["-o", String($0.dropFirst(2))] : [$0] }
    do {
      var command = try parseAsRoot(words)
      try command.run()
    } catch  where exitCode(for: error).isSuccess && !(error is ExitCode) {
      // Help, or the version.
      print(fullMessage(for: error))
    }
  }
}
