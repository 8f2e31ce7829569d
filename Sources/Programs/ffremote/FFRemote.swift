import ArgumentParser
import Assembly
import Bytes
import CPosix
import FileTrees
import Files
import FuseLink
import Glibc
import Mount

/// `ffremote`, which replaces the process of `ffmount http://…`: mounts another machine's `ffmount serve`.
@main
struct FFRemote: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ffremote", abstract: "Mounts another machine's ffmount serve. Started by ffmount http://….",
    version: Version.text)

  @Argument(help: "The server's address.")
  var address: String

  @Argument(help: "An empty folder, by its absolute path.")
  var mountpoint: String

  @Option(name: .customShort("o"), help: "Mount options, separated by commas.")
  var options: [String] = []

  @Flag(name: .customShort("f"), help: "Stay in the foreground and log to standard error.")
  var foreground = false

  @Flag(name: .customShort("d"), help: "Like -f, and show the FUSE protocol.")
  var debug = false

  @Flag(name: .customShort("s"), help: "Answer with a single thread.")
  var singleThreaded = false

  @Option(help: "Mount the source of another ffmount, until this descriptor of a pipe is at its end.")
  var lifeline: Int32?

  @Option(help: "The folder in which blocks of files are kept for later mounts.")
  var cache: String?

  static func main() {
    Descriptor.fillStandard()
    MountedTree.serveAsHelper(CommandLine.arguments)
    endingProcess {
      var command = try parseAsRoot()
      try command.run()
    }
  }

  func run() throws {
    if let lifeline { return try mountSource(until: lifeline) }
    var options = try MountOptions(options)
    if singleThreaded { options.threads = 1 }
    try options.checkUse(.server)
    let mount = RemoteMount(mountpoint: mountpoint, options: options)
    let address = try ServerAddress(address)
    let settings = WireSettings(base: address.text, authorities: options.server.authorities)
    let server = { try RemoteServer(address, ServerInterface(), settings, options) }
    if foreground || debug { return try mount.serve(server, isDebugging: debug, logsToTerminal: true) {} }
    try Background.run { ready in try mount.serve(server, isDebugging: false, logsToTerminal: false, ready: ready) }
  }

  /// Mounts the source at the address for another program. Prints `folder`, or `file` and the file's name. Prints
  /// `server` and mounts nothing if the address is that of `ffmount serve`.
  private func mountSource(until lifeline: Int32) throws {
    _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC)
    var mount = RemoteMount(mountpoint: mountpoint, options: try MountOptions(options).ofSource)
    mount.lifeline = lifeline
    let cache = SourceCache(in: cache, size: mount.options.cacheSize, isOffline: mount.options.server.isOffline)
    try Background.run { [mount, address] ready in
      // Before the threads of the client exist.
      Session.blockSignals()
      let server = try RemoteSource(given: address, options: mount.options, cache: cache).find()
      let kind = server.map { server in
        server.interface.file.map { Array("file ".utf8) + $0.bytes } ?? Array("folder".utf8)
      }
      try Output.write(kind ?? Array("server".utf8), to: STDOUT_FILENO)
      guard let server else { return ready() }
      try mount.serve({ server }, isDebugging: false, logsToTerminal: false, ready: ready)
    }
  }
}
