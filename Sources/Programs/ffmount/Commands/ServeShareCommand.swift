import ArgumentParser
import Assembly

/// `ffmount serve share`: the links of a server, by the program ffserve.
struct ServeShareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve share", abstract: "Adds, removes and lists links to parts of the tree.",
    usage: """
      ffmount serve share add PATH --users FILE [--file] [--rights RIGHTS] [--valid TIME] [--opens NUMBER] [--password] \
      [--url URL]
      ffmount serve share remove NAME --users FILE
      ffmount serve share list --users FILE [--json]
      """,
    discussion: """
      Changes the file that ffmount serve --users reads, which takes effect within seconds. A link shows one folder, or \
      with --file one file, and nothing else of the tree. PATH is one of the served tree. --password asks for a \
      password, or reads the first line of standard input. The page makes links, too.
      """,
    // Not a word that a SOURCE cannot be called.
    shouldDisplay: false)

  @OptionGroup var arguments: ServeShareOptions

  func run() throws {
    throw ServeCommand.refusal(becoming: ["--manage-links"] + CommandLine.arguments.dropFirst(3))
  }
}
