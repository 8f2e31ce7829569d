import ArgumentParser
import FoundationEssentials

/// A command as argument-parser describes it: its subcommands, options and arguments.
struct CommandShape: Decodable {
  let commandName: String
  let abstract: String?
  let shouldDisplay: Bool
  let defaultSubcommand: String?
  let subcommands: [CommandShape]?
  let arguments: [Argument]?

  /// An option, a flag or a positional argument.
  struct Argument: Decodable {
    let kind: Kind
    let shouldDisplay: Bool
    let isRepeating: Bool
    let names: [Name]?
    let abstract: String?
    let completionKind: CompletionKind?

    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable {
      let kind: String
      let name: String

      /// `-f`, `--json`.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    /// What a value is completed with, if the declaration says so: the key that is there.
    struct CompletionKind: Decodable {
      let file: Details?
      let directory: Details?

      struct Details: Decodable {}
    }
  }

  /// The whole program's; nil if argument-parser describes it in another way, which a test would notice.
  static func program() -> CommandShape? {
    struct Dump: Decodable { let command: CommandShape }
    return try? JSONDecoder().decode(Dump.self, from: Data(FFMount._dumpHelp().utf8)).command
  }

  /// The subcommand that is meant when none is named.
  var usual: CommandShape? { subcommands?.first { $0.commandName == defaultSubcommand } }

  var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }

  func option(_ name: some StringProtocol) -> Argument? {
    arguments?.first { $0.kind != .positional && $0.names?.contains { $0.text == name } ?? false }
  }
}
