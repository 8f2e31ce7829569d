import Assembly
import Glibc

/// `ffmount discover`: prints the servers of the local network.
struct ServerList {
  private let options: DiscoverOptions

  init(_ options: DiscoverOptions) { self.options = options }

  /// Prints the servers. Blocks for at most `--timeout`, and exits shortly afterwards even if D-Bus does not answer.
  func run() throws {
    try Refusal.reporting(asJSON: options.json) {
      signal(SIGALRM) { _ in
        Terminal.logError("the Avahi daemon or D-Bus does not answer")
        _exit(ExitStatus.failure.rawValue)
      }
      alarm(UInt32(options.timeout) + 2)
      let found = try ServerSearch().servers(within: options.timeout)
      if options.json { return print(JSON.array(found.map(\.json)).document) }
      if found.isEmpty { print("No server announces itself in the local network.") }
      for server in found {
        print(
          Terminal.painted(Terminal.shown(server.name), .bold) + (server.needsToken == true ? " (needs a token)" : ""))
        for url in server.urls { print("  " + Terminal.shown(url)) }
      }
    }
  }
}
