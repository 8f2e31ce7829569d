import Assembly
import Bytes
import Glibc
import Text

/// The file of `--users`: a line for each account, with its name, its credential, its rights, and the end of its validity.
///
///     anna $y$j9T$… write:/
///     scanner sha256:5e88… drop:/inbox until=2027-01-01
///     share-4f0c… sha256:9a1d… read:/photos root=/photos by=anna opens=5 until=2026-12-01T10:00:00Z
struct UserFile {
  /// The lines as they are, with comments.
  private(set) var lines: [Substring]
  /// The accounts, with the numbers of their lines.
  private(set) var accounts: [(line: Int, account: Account)] = []

  private static let longestName = 64
  private static let mostUsers = 10_000

  struct Failure: Error { let reason: String }

  init(_ text: String) throws(Failure) {
    // CR LF is one character.
    lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    if lines.last?.isEmpty ?? false { lines.removeLast() }
    var names: Set<String> = []
    for (number, line) in lines.enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      let account: Account
      do throws(Failure) { account = try Self.account(words) } catch {
        throw Failure(reason: "line \(number + 1): \(error.reason)")
      }
      guard names.insert(account.name).inserted else {
        throw Failure(reason: "line \(number + 1): \(account.name) occurs twice")
      }
      guard accounts.count < Self.mostUsers else { throw Failure(reason: "more than \(Self.mostUsers) users") }
      accounts.append((number, account))
    }
  }

  /// Reads a file. Throws if others can read it, or it is malformed. Without a newline at its end, the last line can be
  /// the beginning of one, which may grant other rights. Blocks.
  init(at path: String) throws {
    do {
      let text = try PrivateFile.text(at: path, option: "--users")
      guard text.isEmpty || text.utf8.last == UInt8(ascii: "\n") else {
        throw Failure(reason: "the last line ends without a newline")
      }
      self = try UserFile(text)
    } catch let failure as Failure {
      throw Refusal(.usage, "--users \(path): \(failure.reason)")
    }
  }

  /// Returns whether a name is one for an account.
  static func isName(_ name: Substring) -> Bool {
    (1...longestName).contains(name.utf8.count) && name.first != "-"
      && name.utf8.allSatisfy { byte in
        let letter = byte | 0x20
        return letter >= 0x61 && letter <= 0x7a || byte >= 0x30 && byte <= 0x39 || "._-@".utf8.contains(byte)
      }
  }

  private static func account(_ words: [Substring]) throws(Failure) -> Account {
    guard isName(words[0]) else { throw Failure(reason: "expected a name of letters, digits, dots, -, _ and @") }
    guard words.count > 1, let credential = credential(words[1]) else {
      throw Failure(reason: "expected a password's hash or sha256: with a token's digest after the name")
    }
    var grants: [Grant] = []
    var until: Int64?
    var root: [FileName] = []
    var maker: String?
    var most: Int?
    for word in words.dropFirst(2) {
      if word.hasPrefix("until=") {
        until = HTTPDate.end(word.dropFirst("until=".count))
        guard until != nil else { throw Failure(reason: "\(word): expected until=2027-01-31 or a time in UTC") }
      } else if word.hasPrefix("root=") {
        let text = word.dropFirst("root=".count)
        guard text.first == "/", let path = TreePath(encoded: text) else {
          throw Failure(reason: "\(word): expected root= and a path")
        }
        root = path.names
      } else if word.hasPrefix("by=") {
        let name = word.dropFirst("by=".count)
        guard name == "-" || isName(name) else { throw Failure(reason: "\(word): expected by=- or by= and a name") }
        maker = name == "-" ? "" : String(name)
      } else if word.hasPrefix("opens=") {
        let digits = word.dropFirst("opens=".count)
        most = digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
        guard let number = most, number > 0 else { throw Failure(reason: "\(word): expected a number") }
      } else {
        guard let grant = grant(word) else {
          throw Failure(reason: "\(word): expected read:, drop: or write: and a path")
        }
        grants.append(grant)
      }
    }
    guard most == nil || maker != nil else { throw Failure(reason: "opens= is for a link, which has by=") }
    // Paths of grants are relative to the tree, but clients cannot reach those outside the root.
    return Account(
      String(words[0]), credential, grants, root: root, until: until,
      share: maker.map { Account.Share(maker: $0, most: most) })
  }

  private static func credential(_ word: Substring) -> Account.Credential? {
    guard word.hasPrefix("sha256:") else { return PasswordHash.isUsable(String(word)) ? .password(String(word)) : nil }
    let digits = word.dropFirst("sha256:".count).utf8.compactMap(\.hexValue)
    guard digits.count == 64, word.utf8.count == 71 else { return nil }
    return .token(stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  /// Parses `read:/a%20b`.
  static func grant(_ word: Substring) -> Grant? {
    let parts = word.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let rights = Rights(parts[0]), parts[1].first == "/", let path = TreePath(encoded: parts[1])
    else { return nil }
    return Grant(path: path.names, rights: rights)
  }

  /// Returns the line of an account.
  static func line(_ name: String, _ credential: Account.Credential, _ grants: [Grant], until: String?) -> String {
    let secret =
      switch credential {
      case .open: ""
      case .token(let digest): "sha256:\(Secret.hexadecimal(digest))"
      case .password(let hash): hash
      }
    let words =
      [name, secret] + grants.map { "\($0.rights.text):\(TreePath(names: $0.path).encoded)" }
      + (until.map { ["until=\($0)"] } ?? [])
    return words.joined(separator: " ")
  }

  /// Returns the line of a link.
  static func line(_ link: Account) -> String {
    let until = link.until.map { HTTPDate.iso(Timestamp(seconds: $0, nanoseconds: 0)).prefix(19) + "Z" }
    let maker = link.share?.maker ?? ""
    return line(link.name, link.credential, link.grants, until: until.map { String($0) })
      + " root=\(TreePath(names: link.root).encoded) by=\(maker.isEmpty ? "-" : maker)"
      + (link.share?.most.map { " opens=\($0)" } ?? "")
  }

  /// Replaces the account of a name, or adds it. Removes it if `line` is `nil`. Returns whether it existed.
  mutating func set(_ name: String, _ line: String?) throws(Failure) -> Bool {
    let old = accounts.first { $0.account.name == name }?.line
    var lines = lines.map { String($0) }
    if let old {
      if let line { lines[old] = line } else { lines.remove(at: old) }
    } else if let line {
      lines.append(line)
    }
    self = try UserFile(lines.joined(separator: "\n"))
    return old != nil
  }

  var text: String { lines.map { "\($0)\n" }.joined() }
}
