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

  @Option(help: "The identity of the folder below the mount, for a process that cannot look at it.")
  var folder: String?

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
    try options.checkWriting()
    let mount = RemoteMount(mountpoint: mountpoint, options: options)
    let address = try ServerAddress(address)
    let settings = WireSettings(base: address.text, authorities: options.server.authorities)
    let server = { try RemoteServer(address, ServerInterface(), settings, options) }
    if foreground || debug { return try mount.serve(server, isDebugging: debug, logsToTerminal: true) {} }
    try Background.run { ready in try mount.serve(server, isDebugging: false, logsToTerminal: false, ready: ready) }
  }

  /// Mounts the source at the address for another program, supervised with `-o supervise=on`. Prints `folder`, or `file` and the
  /// file's name. Prints `server` and mounts nothing if the address is that of `ffmount serve`.
  private func mountSource(until lifeline: Int32) throws {
    let options = try MountOptions(options)
    var mount = RemoteMount(mountpoint: mountpoint, options: options.ofSource)
    mount.lifeline = lifeline
    if let keeping = Supervision.taken(by: "ffremote") {
      (mount.keeping, mount.folder) = (keeping, folder)
      return try Background.reporting(to: keeping.report) { ready in try serveSource(mount, ready) }
    }
    if options.isKept ?? false, Supervision.isPossible {
      let memory = 2 * Int64(mount.options.memory) + Self.memoryOfRequests
      let words = ["--folder", RemoteMount.identity(of: mountpoint) ?? ""] + CommandLine.arguments.dropFirst()
      // Nothing could end a mount that refuses all requests when the other program ends.
      return try Background.start(reportingTo: { report in
        try Supervision.become(
          report: report, memory: memory, unmounts: true, words)
      })
    }
    try Background.run { ready in try serveSource(mount, ready) }
  }

  /// The memory that requests and writes to the cache need besides the caches, in bytes.
  private static let memoryOfRequests: Int64 = 512 << 20

  private func serveSource(_ mount: RemoteMount, _ ready: @escaping @Sendable () -> Void) throws {
    if let lifeline { _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC) }
    // Before the threads of the client exist.
    Session.blockSignals()
    let cache = SourceCache(in: cache, size: mount.options.cacheSize, isOffline: mount.options.server.isOffline)
    var source = RemoteSource(given: address, options: mount.options, cache: cache)
    source.isMounted = mount.keeping?.connection != nil
    let server = try source.find()
    if !source.isMounted {
      let kind = server.map { server in
        server.interface.file.map { Array("file ".utf8) + $0.bytes } ?? Array("folder".utf8)
      }
      try Output.write(kind ?? Array("server".utf8), to: STDOUT_FILENO)
    }
    guard let server else { return ready() }
    try mount.serve({ server }, isDebugging: false, logsToTerminal: false, ready: ready)
  }
}
