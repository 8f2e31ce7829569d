import Assembly

/// A command that changes and prints some of the accounts in the file of `--users`.
protocol AccountCommand {
  var action: AccountAction { get }
  /// The account or path of the command. `nil` to list all.
  var subject: String? { get }
  var isJSON: Bool { get }

  func list() throws
  func add(_ subject: String) throws
  func remove(_ name: String) throws
}

extension AccountCommand {
  /// Blocks, also for a password.
  func run() throws {
    try Refusal.reporting(asJSON: isJSON) {
      switch action {
      case .list: try list()
      case .add: try add(subject ?? "")
      case .remove: try remove(subject ?? "")
      }
    }
  }
}

extension Account {
  /// Prints the name, with a remark, and below it the rights and the end of the validity.
  func show(_ remark: String) {
    print(Terminal.painted(name, .bold) + remark)
    for grant in grants { print("  \(grant.rights.text) \(Terminal.shown(TreePath(names: grant.path).text))") }
    if let untilText { print("  \(untilText)") }
  }
}
