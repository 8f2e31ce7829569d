import Assembly
import Bytes

/// `ffmount serve users`: changes and prints the file of `--users`.
struct UserList: AccountCommand {
  private let options: ServeUsersOptions
  private let store: AccountStore

  init(_ options: ServeUsersOptions) {
    self.options = options
    store = AccountStore(at: options.users, Visits(beside: options.users))
  }

  var action: AccountAction { options.action }
  var subject: String? { options.name }
  var isJSON: Bool { options.json }

  func list() throws {
    let accounts = try store.accounts().filter { $0.share == nil }
    if options.json { return print(JSON.array(accounts.map(Self.json)).document) }
    if accounts.isEmpty { print("No user is in \(Terminal.shown(options.users)).") }
    for account in accounts { account.show(account.isProgram ? " (token)" : "") }
  }

  private static func json(_ account: Account) -> JSON {
    let grants = account.grants.map { grant -> JSON in
      ["path": .string(TreePath(names: grant.path).text), "rights": .array(grant.rights.words.map { .string($0) })]
    }
    var object: JSON = [
      "name": .string(account.name), "kind": .string(account.isProgram ? "token" : "password"),
      "grants": .array(grants),
    ]
    object.add("until", account.until.map { HTTPDate.iso(Timestamp(seconds: $0, nanoseconds: 0)) })
    return object
  }

  func add(_ name: String) throws {
    guard UserFile.isName(name[...]) else {
      throw Refusal(.usage, "\(name): expected a name of letters, digits, dots, -, _ and @")
    }
    if let until = options.until, HTTPDate.end(until[...]) == nil {
      throw Refusal(.usage, "--until \(until): expected a date such as 2027-01-31")
    }
    let given: [([String], Rights)] = [(options.read, .read), (options.drop, .drop), (options.write, .write)]
    var grants: [Grant] = []
    for (paths, rights) in given {
      for path in paths {
        guard let names = TreePath(Array(path.utf8))?.names else {
          throw Refusal(.usage, "\(path): a path cannot contain . or ..")
        }
        grants.append(Grant(path: names, rights: rights))
      }
    }
    let token = options.token ? Secret.random() : nil
    let credential: Account.Credential
    if let token {
      credential = .token(Secret.digest(Array(token.utf8)))
    } else {
      credential = .password(try PasswordHash.checked(try PasswordHash.entered(for: name)))
    }
    let line = UserFile.line(name, credential, grants, until: options.until)
    let isKnown = try store.change(creating: true) { (file) throws(UserFile.Failure) in try file.set(name, line) }
    print(isKnown ? "\(name) was replaced" : "\(name) was added")
    if let token { print("token: \(token)") }
  }

  func remove(_ name: String) throws {
    guard try store.change(creating: false, { (file) throws(UserFile.Failure) in try file.set(name, nil) }) else {
      throw Refusal(.failure, "cannot remove \(name): not a user (run: ffmount serve users list)")
    }
    print("\(name) was removed")
  }
}
