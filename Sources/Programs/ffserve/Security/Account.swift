import Bytes
import Text

/// A user, or a program with a token, and the parts of the tree that are accessible to it.
final class Account: Sendable {
  enum Credential: Sendable {
    /// All clients have the account.
    case open
    /// The SHA-256 digest of the token.
    case token([UInt8])
    /// The password's hash, in the form of crypt(5).
    case password(String)
  }

  /// The name. Empty for the account of the server's token, and that of a server without accounts.
  let name: String
  let credential: Credential
  let grants: [Grant]
  /// The directory that clients see as the root. Empty for the tree's own.
  let root: [FileName]
  /// The time at which the account expires, in seconds since 1970. Nil if it does not.
  let until: Int64?
  /// The properties of a link. Nil for a user or a program.
  let share: Share?
  /// The rights for the root, and thus everywhere.
  let everywhere: Rights
  /// The value of the cookie. It proves that its owner knew the credential, but is not the credential. Nil if there is no
  /// credential.
  let pass: Secret?

  init(
    _ name: String, _ credential: Credential, _ grants: [Grant], root: [FileName] = [], until: Int64? = nil,
    share: Share? = nil
  ) {
    self.name = name
    self.share = share
    self.credential = credential
    self.grants = grants
    self.root = root
    self.until = until
    everywhere = grants.reduce([]) { $1.path.isEmpty ? $0.union($1.rights) : $0 }
    pass =
      switch credential {
      case .open: nil
      case .token(let digest): .derived(from: "\(name)\0\(Secret.hexadecimal(digest))", for: "cookie of ffserve")
      case .password(let hash): .derived(from: "\(name)\0\(hash)", for: "cookie of ffserve")
      }
  }

  /// Returns the account with all rights.
  ///
  /// - Parameter token: Nil if all clients have the account.
  static func owner(token: String?) -> Account {
    Account(
      "", token.map { .token(Secret.digest(Array($0.utf8))) } ?? .open, [Grant(path: [], rights: .write)])
  }

  /// Returns the link with no more rights than its maker, and for no longer.
  func limited(by maker: Account) -> Account {
    let grants = grants.map { Grant(path: $0.path, rights: $0.rights.intersection(maker.rights(at: $0.path))) }
    let end = [until, maker.until].compactMap { $0 }.min()
    return Account(name, credential, grants.filter { !$0.rights.isEmpty }, root: root, until: end, share: share)
  }

  /// Whether the credential is a token.
  var isProgram: Bool { if case .token = credential { true } else { false } }

  /// The end of the validity, for users. Nil if there is none.
  var untilText: String? {
    until.map { end in
      let isOver = end <= HTTPDate.now.seconds
      return "\(isOver ? "expired" : "until") \(HTTPDate.iso(Timestamp(seconds: end, nanoseconds: 0)))"
    }
  }

  /// Returns the rights for a path, which are those of all grants that contain it.
  func rights(at path: some Collection<FileName>) -> Rights {
    grants.reduce(everywhere) { path.starts(with: $1.path) ? $0.union($1.rights) : $0 }
  }

  /// Returns whether a path is that of a grant, or of a directory on the way to one.
  func leads(to path: some Collection<FileName>) -> Bool { grants.contains { $0.path.starts(with: path) } }
}
