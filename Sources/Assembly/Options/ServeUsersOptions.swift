package import ArgumentParser

/// The command line of `ffmount serve users`, which its program also parses.
package struct ServeUsersOptions: ParsableArguments {
  @Argument(help: "add, remove or list.")
  package var action: AccountAction

  @Argument(help: ArgumentHelp("The user to add, replace or remove.", valueName: "name"))
  package var name: String?

  @Option(
    help: ArgumentHelp("The file of users, as for ffmount serve --users.", valueName: "file"), completion: .file())
  package var users: String

  @Option(help: ArgumentHelp("A folder or file that the user may read, such as /photos.", valueName: "path"))
  package var read: [String] = []

  @Option(help: ArgumentHelp("A folder to which the user may add files, without seeing others.", valueName: "path"))
  package var drop: [String] = []

  @Option(help: ArgumentHelp("A folder or file that the user may read and change.", valueName: "path"))
  package var write: [String] = []

  @Option(help: ArgumentHelp("The last day, such as 2027-01-31, or a time in UTC.", valueName: "date"))
  package var until: String?

  @Flag(help: "Make a token for a program instead of asking for a password.")
  package var token = false

  @Flag(help: "Print a JSON array of objects.")
  package var json = false

  package init() {}

  package mutating func validate() throws {
    guard (action == .list) == (name == nil) else {
      throw ValidationError(action == .list ? "list takes no name" : "\(action.rawValue) needs the name of a user")
    }
    guard action != .add || !(read + drop + write).isEmpty else {
      throw ValidationError("add: the user would have no rights (give --read, --drop or --write with a path such as /)")
    }
    if let path = (read + drop + write).first(where: { !$0.hasPrefix("/") }) {
      throw ValidationError("\(path): expected a path of the served tree, such as /photos")
    }
  }
}
