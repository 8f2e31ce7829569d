import ArgumentParser
import Assembly
import CPosix
import Files
import Glibc
import Logging

/// `ffserve`, which replaces the process of `ffmount serve`: serves the tree to browsers and other machines.
@main
struct FFServe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ffserve", abstract: "Serves the tree to browsers and other machines. Started by ffmount serve.")

  @OptionGroup var options: ServeOptions

  static func main() {
    Descriptor.fillStandard()
    let words = words(CommandLine.arguments.dropFirst())
    endingProcess {
      if words.first == "--discover" {
        return try ServerList(DiscoverOptions.parse(Array(words.dropFirst()))).run()
      }
      if words.first == "--manage-users" {
        return try UserList(ServeUsersOptions.parse(Array(words.dropFirst()))).run()
      }
      if words.first == "--manage-links" {
        return try LinkList(ServeShareOptions.parse(Array(words.dropFirst()))).run()
      }
      var command = try parseAsRoot(words)
      try command.run()
    }
  }

  /// Splits `-oro`, the spelling of FUSE users.
  private static func words(_ arguments: ArraySlice<String>) -> [String] {
    arguments.flatMap { $0.hasPrefix("-o") && $0.count > 2 ? ["-o", String($0.dropFirst(2))] : [$0] }
  }

  func run() throws {
    ffmount_limit_arenas(2)
    ffmount_map_from(2 << 20)
    try HTTPServer(options).run()
  }
}
