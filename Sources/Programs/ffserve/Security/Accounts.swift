import Bytes

/// The accounts of a server, found by their credentials.
struct Accounts: Sendable {
  /// The account of clients without credentials. Nil if they are refused.
  private let open: Account?
  private let byPass: [[UInt8]: Account]
  private let byToken: [[UInt8]: Account]
  private let byName: [String: Account]

  /// Links of makers that are not among the accounts, or have lost all rights there, are left out.
  init(_ accounts: [Account]) {
    let makers = Dictionary(
      accounts.filter { $0.share == nil }.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    let accounts = accounts.compactMap { account in
      guard let share = account.share, !share.maker.isEmpty else { return account }
      return makers[share.maker].map { account.limited(by: $0) }.flatMap { $0.grants.isEmpty ? nil : $0 }
    }
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
    haveNames = byName.values.contains { $0.share == nil }
    (self.open, self.byPass, self.byToken, self.byName) = (open, byPass, byToken, byName)
  }

  /// Whether there are users with passwords.
  let haveNames: Bool

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
