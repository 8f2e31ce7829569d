import Assembly
import Bytes
import Files
import Glibc

/// `ffmount serve users`: changes and prints the file of `--users`.
struct UserList {
  private let options: ServeUsersOptions

  init(_ options: ServeUsersOptions) { self.options = options }

  /// The longest password, as crypt(3) permits.
  private static let longestPassword = 511

  /// Blocks, also for the password.
  func run() throws {
    try Refusal.reporting(asJSON: options.json) {
      switch options.action {
      case .list: try list()
      case .add: try add(options.name ?? "")
      case .remove: try remove(options.name ?? "")
      }
    }
  }

  private func list() throws {
    let accounts = try UserFile(at: options.users).accounts.map { $0.account }
    if options.json { return print(JSON.array(accounts.map(Self.json)).document) }
    if accounts.isEmpty { print("No user is in \(Terminal.shown(options.users)).") }
    for account in accounts {
      print(Terminal.painted(account.name, .bold) + (account.isProgram ? " (token)" : ""))
      for grant in account.grants {
        print("  \(grant.rights.text) \(Terminal.shown(TreePath(names: grant.path).text))")
      }
      if let until = account.until {
        let isOver = until <= HTTPDate.now.seconds
        print("  \(isOver ? "expired" : "until") \(HTTPDate.iso(Timestamp(seconds: until, nanoseconds: 0)))")
      }
    }
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

  private func add(_ name: String) throws {
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
      guard let hash = PasswordHash.made(of: try Self.password(for: name)) else {
        throw Refusal(.failure, "cannot hash the password: \(describe(errno))")
      }
      credential = .password(hash)
    }
    let line = UserFile.line(name, credential, grants, until: options.until)
    let isKnown = try change(creating: true) { (file) throws(UserFile.Failure) in try file.set(name, line) }
    print(isKnown ? "\(name) was replaced" : "\(name) was added")
    if let token { print("token: \(token)") }
  }

  private func remove(_ name: String) throws {
    guard try change(creating: false, { (file) throws(UserFile.Failure) in try file.set(name, nil) }) else {
      throw Refusal(.failure, "cannot remove \(name): not a user (run: ffmount serve users list)")
    }
    print("\(name) was removed")
  }

  /// Reads a password from the terminal, twice and without showing it, or the first line of standard input.
  private static func password(for name: String) throws -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      return try checked(Array(PrivateFile.text(at: "-", option: "standard input", isLine: true).utf8))
    }
    func ask(_ prompt: String) throws -> [UInt8] {
      var old = termios()
      guard unsafe tcgetattr(STDIN_FILENO, &old) == 0 else { throw Refusal(.failure, "terminal: \(describe(errno))") }
      var silent = old
      silent.c_lflag &= ~tcflag_t(ECHO)
      tell(prompt)
      _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
      defer {
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &old)
        tell("\n")
      }
      return Array((readLine() ?? "").utf8)
    }
    let password = try checked(ask("Password of \(name): "))
    guard try ask("Again: ") == password else { throw Refusal(.usage, "the passwords differ") }
    return password
  }

  /// Writes to the terminal even if the output is redirected.
  private static func tell(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  private static func checked(_ password: [UInt8]) throws -> [UInt8] {
    guard (8...longestPassword).contains(password.count), !password.contains(0) else {
      throw Refusal(.usage, "the password has less than 8 or more than \(longestPassword) bytes")
    }
    return password
  }

  /// Replaces the file atomically. Blocks.
  private func change(
    creating: Bool, _ body: (inout UserFile) throws(UserFile.Failure) -> Bool
  ) throws -> Bool {
    let path = options.users
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    guard isThere || creating else {
      throw Refusal(.failure, "cannot read \(path): \(describe(errno)) (check the path)")
    }
    do {
      var file = isThere ? try UserFile(at: path) : try UserFile("")
      let result = try body(&file)
      try write(file.text, to: path, owner: isThere ? (status.st_uid, status.st_gid) : nil)
      return result
    } catch let failure as UserFile.Failure {
      throw Refusal(.usage, "--users \(path): \(failure.reason)")
    }
  }

  private func write(_ text: String, to path: String, owner: (user: uid_t, group: gid_t)?) throws {
    var name = Array("\(path).XXXXXX".utf8CString)
    let raw = unsafe mkstemp(&name)
    func failure() -> Refusal { Refusal(.failure, "cannot write \(path): \(describe(errno))") }
    guard raw >= 0 else { throw failure() }
    var isDone = false
    defer {
      close(raw)
      if !isDone { _ = unsafe unlink(name) }
    }
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(raw, bytes, bytes.count) == bytes.count, fsync(raw) == 0 else { throw failure() }
    // The server may run as another user.
    if let owner, geteuid() == 0, fchown(raw, owner.user, owner.group) != 0 { throw failure() }
    guard unsafe rename(name, path) == 0 else { throw failure() }
    isDone = true
  }
}

extension Account {
  /// Whether the credential is a token.
  fileprivate var isProgram: Bool { if case .token = credential { true } else { false } }
}
