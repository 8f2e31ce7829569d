import ArgumentParser
import Assembly

/// `ffmount serve users`: the users of a server, by the program ffserve.
struct ServeUsersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve users", abstract: "Adds, removes and lists the users of ffmount serve.",
    usage: """
      ffmount serve users add NAME --users FILE [--read PATH] [--drop PATH] [--write PATH] [--until DATE] [--token]
      ffmount serve users remove NAME --users FILE
      ffmount serve users list --users FILE [--json]
      """,
    discussion: """
      Changes the file that ffmount serve --users reads, which takes effect within seconds. add asks for the password, \
      or reads the first line of standard input; it replaces a user of the same name. PATH is one of the served tree. \
      A user sees nothing of what these paths do not contain.
      """,
    // Not a word that a SOURCE cannot be called.
    shouldDisplay: false)

  @OptionGroup var arguments: ServeUsersOptions

  func run() throws {
    throw ServeCommand.refusal(becoming: ["--manage-users"] + CommandLine.arguments.dropFirst(3))
  }
}
