package import ArgumentParser
internal import Glibc

/// The command line of `ffmount serve`, which its program also parses.
package struct ServeOptions: ParsableArguments {
  @Argument(help: "The folder or file to show.", completion: .file())
  package var source: String

  @Option(help: ArgumentHelp("The port to listen on; 0 for any free port.", valueName: "port"))
  package var port = 4200

  @Option(
    help: ArgumentHelp(
      "The address to listen on, such as 0.0.0.0 or :: for all; unix:PATH is a socket for a proxy.", valueName: "host"))
  package var host = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "The origin of other pages whose scripts may send requests, such as https://app.example.", valueName: "origin"))
  package var cors: [String] = []

  @Flag(help: "Show the index.html of a folder below /dav/ instead of a list.")
  package var index = false

  @Option(help: ArgumentHelp("An additional host name of the server.", valueName: "name"))
  package var name: [String] = []

  @Option(
    help: ArgumentHelp(
      "The token that clients must send, 8 characters or more; --token-file hides it from other users.",
      valueName: "token"))
  package var token: String?

  @Option(
    help: ArgumentHelp("A file with the token in its first line; - is standard input.", valueName: "file"),
    completion: .file())
  package var tokenFile: String?

  @Option(
    help: ArgumentHelp("A file with users and their rights, made by: ffmount serve users add.", valueName: "file"),
    completion: .file())
  package var users: String?

  @Flag(help: "Answer all clients that can reach the address.")
  package var noToken = false

  @Option(
    help: ArgumentHelp(
      "The address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.",
      valueName: "address"))
  package var proxy: [String] = []

  @Option(
    help: ArgumentHelp("The path at which a proxy has the server, such as /files.", valueName: "path"),
    transform: ServeOptions.checkedPrefix)
  package var prefix = ""

  @Option(
    help: ArgumentHelp("A file to which each change by a client is appended.", valueName: "file"), completion: .file())
  package var log: String?

  @Option(help: ArgumentHelp("How long answers may continue after SIGTERM.", valueName: "seconds"))
  package var drain = 3

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("The PEM files of a certificate chain and its key; only TLS is then served.", valueName: "file"),
    completion: .file())
  package var tls: [String] = []

  @Flag(help: "Do not announce the server in the local network.")
  package var noBonjour = false

  @Flag(help: "Delete for good what the page deletes, instead of moving it to .trash.")
  package var noTrash = false

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Mount options, separated by commas (see man ffmount).", valueName: "options"))
  package var options: [String] = []

  package init() {}

  package mutating func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port \(port): expected 0 to 65535") }
    guard !host.isEmpty else {
      throw ValidationError("--host: expected an address, such as 127.0.0.1, or 0.0.0.0 for all")
    }
    if let path = socketPath, !(1...Self.longestSocketPath).contains(path.utf8.count) {
      throw ValidationError("--host unix:\(path): expected a path of 1 to \(Self.longestSocketPath) bytes")
    }
    if let bad = cors.first(where: { !Self.isOrigin($0) }) {
      throw ValidationError("--cors \(bad): expected a scheme and a host, such as https://app.example")
    }
    guard tls.isEmpty || tls.count == 2 else {
      throw ValidationError("--tls: expected two files, a certificate chain and its key")
    }
    guard (token == nil ? 0 : 1) + (tokenFile == nil ? 0 : 1) + (noToken ? 1 : 0) < 2 else {
      throw ValidationError("--token, --token-file and --no-token exclude each other")
    }
    guard users == nil || !noToken else { throw ValidationError("--users and --no-token exclude each other") }
    if let token { try Token.check(token, from: "--token") }
    if let bad = proxy.first(where: { AddressRange($0) == nil }) {
      throw ValidationError("--proxy \(bad): expected an IP address, or a network such as 10.0.0.0/8")
    }
    guard (0...86400).contains(drain) else { throw ValidationError("--drain \(drain): expected 0 to 86400 seconds") }
  }

  /// The path of the Unix socket to listen on. `nil` for an address.
  package var socketPath: String? { host.hasPrefix("unix:") ? String(host.dropFirst("unix:".count)) : nil }

  /// The maximum length of a socket's path, in bytes (unix(7)).
  private static let longestSocketPath = 107

  /// Returns whether a text is an origin as browsers send it (RFC 6454).
  private static func isOrigin(_ text: String) -> Bool {
    ["http://", "https://"].contains { scheme in
      let host = text.dropFirst(scheme.count)
      return text.hasPrefix(scheme) && !host.isEmpty
        && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#@*".utf8.contains($0) }
    }
  }

  /// Returns a path without a trailing slash. Throws if it is not one.
  private static func checkedPrefix(_ text: String) throws -> String {
    let path = text.hasSuffix("/") ? String(text.dropLast()) : text
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    let isPath = names.dropFirst().allSatisfy { name in
      !name.isEmpty && name != "." && name != ".."
        && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
    }
    guard path.isEmpty || (names[0].isEmpty && isPath) else {
      throw ValidationError("--prefix \(text): expected a path of letters, digits, -, ., _ and ~, such as /files")
    }
    return path
  }

  /// The networks of `--proxy`.
  package var proxies: [AddressRange] { proxy.compactMap { AddressRange($0) } }
}
