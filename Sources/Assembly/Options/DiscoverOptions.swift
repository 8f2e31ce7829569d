internal import ArgumentParser

/// The command line of `ffmount discover`, which its program also parses.
package struct DiscoverOptions: ParsableArguments {
  @Flag(help: "Print a JSON array of objects.")
  package var json = false

  @Option(help: ArgumentHelp("The maximum time to wait for answers.", valueName: "seconds"))
  package var timeout = 5

  package init() {}

  package mutating func validate() throws {
    guard (1...60).contains(timeout) else { throw ValidationError("--timeout \(timeout): expected 1 to 60 seconds") }
  }
}
