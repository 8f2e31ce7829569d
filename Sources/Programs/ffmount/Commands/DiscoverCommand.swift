import ArgumentParser
import Assembly

/// `ffmount discover`: the servers of the local network, by the program ffserve.
struct DiscoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discover", abstract: "Lists the servers that announce themselves in the local network.",
    usage: "ffmount discover [--json] [--timeout SECONDS]",
    discussion: """
      Lists the servers that ffmount serve and Browsey announce, with their addresses. It asks the Avahi daemon of this \
      machine.
      """)

  @OptionGroup var arguments: DiscoverOptions

  func run() throws {
    throw ServeCommand.refusal(becoming: ["--discover"] + CommandLine.arguments.dropFirst(2))
  }
}
