import ArgumentParser
import Assembly
import CPosix
import Files
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

  static func main() {
    Descriptor.fillStandard()
    MountedTree.serveAsHelper(CommandLine.arguments)
    endingProcess {
      var command = try parseAsRoot()
      try command.run()
    }
  }

  func run() throws {
    var options = try MountOptions(options)
    if singleThreaded { options.threads = 1 }
    try options.checkUse(isServer: true)
    let mount = RemoteMount(address: try ServerAddress(address), mountpoint: mountpoint, options: options)
    if foreground || debug { return try mount.serve(isDebugging: debug, logsToTerminal: true) {} }
    try Background.run { ready in try mount.serve(isDebugging: false, logsToTerminal: false, ready: ready) }
  }
}
