package import ArgumentParser

/// The command line of `ffmount serve share`, which its program also parses.
package struct ServeShareOptions: ParsableArguments {
  @Argument(help: "add, remove or list.")
  package var action: AccountAction

  @Argument(
    help: ArgumentHelp("The folder to share, such as /photos, or the name of a link to remove.", valueName: "path"))
  package var subject: String?

  @Option(
    help: ArgumentHelp("The file of users, as for ffmount serve --users.", valueName: "file"), completion: .file())
  package var users: String

  @Flag(help: "Share a file instead of a folder.")
  package var file = false

  @Option(
    help: ArgumentHelp("What recipients may do: read, drop, read+drop or write.", valueName: "rights"))
  package var rights = "read"

  @Option(help: ArgumentHelp("How long the link is valid, such as 2h, 1d or 1w.", valueName: "time"))
  package var valid: String?

  @Option(help: ArgumentHelp("How often the link can be opened.", valueName: "number"))
  package var opens: Int?

  @Flag(help: "Ask for a password that recipients have to enter.")
  package var password = false

  @Option(help: ArgumentHelp("The address of the server, to print whole links.", valueName: "url"))
  package var url: String?

  @Flag(help: "Print JSON.")
  package var json = false

  package init() {}

  package mutating func validate() throws {
    guard (action == .list) == (subject == nil) else {
      throw ValidationError(
        action == .list ? "list takes no path" : action == .add ? "add needs a path" : "remove needs the name of a link"
      )
    }
    if action == .add, let subject, !subject.hasPrefix("/") {
      throw ValidationError("\(subject): expected a path of the served tree, such as /photos")
    }
    guard valid == nil || validSeconds != nil else {
      throw ValidationError("--valid \(valid ?? ""): expected a time such as 30m, 2h, 1d or 1w, at most 366d")
    }
    if let opens, !(1...1_000_000).contains(opens) {
      throw ValidationError("--opens \(opens): expected 1 to 1000000")
    }
  }

  /// The number of seconds of `--valid`. Nil if it is missing or invalid.
  package var validSeconds: Int64? {
    guard let valid, let unit = valid.last, let factor = Self.units[unit], let count = Int64(valid.dropLast()),
      count > 0, count <= Self.longest / factor
    else { return nil }
    return count * factor
  }

  private static let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86400, "w": 7 * 86400]
  private static let longest: Int64 = 366 * 86400
}
