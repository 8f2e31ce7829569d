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

      /// The name with its dashes, such as `-f` or `--json`.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    /// The declared completion of a value. The present key determines its kind.
    struct CompletionKind: Decodable {
      let file: Details?
      let directory: Details?

      struct Details: Decodable {}
    }
  }

  /// Returns the shape of the whole program. Returns `nil` if argument-parser changes its format, which a test would
  /// detect.
  static func program() -> CommandShape? {
    struct Dump: Decodable { let command: CommandShape }
    return try? JSONDecoder().decode(Dump.self, from: Data(FFMount._dumpHelp().utf8)).command
  }

  /// The default subcommand.
  var usual: CommandShape? { subcommands?.first { $0.commandName == defaultSubcommand } }

  var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }

  func option(_ name: some StringProtocol) -> Argument? {
    arguments?.first { $0.kind != .positional && $0.names?.contains { $0.text == name } ?? false }
  }
}
