import ArgumentParser
import Assembly
import FileTrees
import Glibc

/// `ffmount serve SOURCE`: serves the tree to browsers and other machines, by the program ffserve.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serves the tree to browsers, phones and other machines.",
    usage: "ffmount serve SOURCE [--port PORT] [--host HOST] [--token-file FILE | --no-token] [--tls CERT KEY]",
    discussion: """
      Shows SOURCE with all views at http://127.0.0.1:4200/ until it is interrupted; nothing is mounted. With --host, \
      other machines can connect, too: clients then need a token, which is printed with the address. Besides the \
      page there is an API, below /api/, and WebDAV, below /dav/. ffmount serve users manages the users of --users.
      """)

  @OptionGroup var arguments: ServeOptions

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: [arguments.source], toDo: "serve")
    try MountOptions(arguments.options).checkUse(.served)
    var words = Array(CommandLine.arguments.dropFirst(2))
    if let elsewhere = try SourceElsewhere.of(arguments.source, arguments.options, toDo: "serve") {
      let name = arguments.source.prefix { $0 != "?" }.replacing(",", with: "\\,")
      words = words.map { $0 == arguments.source ? elsewhere.path : $0 } + ["-o", "source_id=\(name)"]
    }
    throw Self.refusal(becoming: words)
  }

  /// Replaces the process by ffserve with these arguments. Returns only if that fails, with the reason.
  static func refusal(becoming words: [String]) -> Refusal {
    guard let program = OwnPrograms.path(of: "ffserve") else {
      return Refusal(
        .failure, "ffserve not found beside ffmount or in ../libexec/ffmount (install the package ffmount-server)")
    }
    let words = ["ffserve"] + words
    var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
    _ = unsafe execv(program, &pointers)
    return Refusal(.failure, "\(program): \(describe(errno))")
  }
}
