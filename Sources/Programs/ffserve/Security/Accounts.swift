import Bytes

/// The accounts of a server, found by their credentials.
struct Accounts: Sendable {
  /// The account of clients without credentials. Nil if they are refused.
  private let open: Account?
  private let byPass: [[UInt8]: Account]
  private let byToken: [[UInt8]: Account]
  private let byName: [String: Account]

  init(_ accounts: [Account]) {
    var open: Account?
    var byPass: [[UInt8]: Account] = [:]
    var byToken: [[UInt8]: Account] = [:]
    var byName: [String: Account] = [:]
    for account in accounts {
      if let pass = account.pass { byPass[pass.digest] = account }
      switch account.credential {
      case .open: open = account
      case .token(let digest): byToken[digest] = account
      case .password: byName[account.name] = account
      }
    }
    (self.open, self.byPass, self.byToken, self.byName) = (open, byPass, byToken, byName)
  }

  /// Whether there are accounts with passwords.
  var haveNames: Bool { !byName.isEmpty }

  func open(at time: Int64) -> Account? { Self.valid(open, time) }

  // The keys are digests, so that the time of the search reveals nothing about credentials.

  func account(pass: some Sequence<UInt8>, at time: Int64) -> Account? {
    Self.valid(byPass[Secret.digest(Array(pass))], time)
  }

  func account(token: [UInt8], at time: Int64) -> Account? { Self.valid(byToken[Secret.digest(token)], time) }

  func account(name: String, at time: Int64) -> Account? { Self.valid(byName[name], time) }

  private static func valid(_ account: Account?, _ time: Int64) -> Account? {
    guard let account, account.until.map({ time < $0 }) ?? true else { return nil }
    return account
  }
}
