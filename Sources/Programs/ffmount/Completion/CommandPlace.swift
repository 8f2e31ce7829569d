/// The position in a command line after some of its words.
struct CommandPlace {
  /// The command named by the words so far, initially the program.
  private(set) var command: CommandShape
  /// Whether the next word may name a subcommand.
  private(set) var isFirst = true
  /// Whether a word with a dash is an argument.
  private(set) var isPastOptions = false
  /// The option that expects the next word as its value.
  private(set) var pending: CommandShape.Argument?
  private var arguments = 0

  init(_ program: CommandShape) { command = program }

  /// The command whose options and arguments can follow.
  var effective: CommandShape { command.usual ?? command }

  /// The argument that the next word is, unless it is an option. Nil if there are enough arguments.
  var argument: CommandShape.Argument? {
    let all = effective.positionals
    return arguments < all.count ? all[arguments] : all.last.flatMap { $0.isRepeating ? $0 : nil }
  }

  mutating func pass(_ word: String) {
    if isFirst, let named = command.subcommands?.first(where: { $0.commandName == word }) {
      command = named
      return
    }
    isFirst = false
    if pending != nil {
      pending = nil
    } else if !isPastOptions, word == "--" {
      isPastOptions = true
    } else if !isPastOptions, word.hasPrefix("-"), word.count > 1 {
      pending = effective.option(word).flatMap { $0.kind == .option ? $0 : nil }
    } else {
      arguments += 1
    }
  }
}
