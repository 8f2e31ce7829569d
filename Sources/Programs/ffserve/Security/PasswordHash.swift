import Assembly
import Bytes
import CCrypt
import Glibc

/// Hashes of passwords, in the form of crypt(5). New ones are made by yescrypt, the default of Debian's login.
enum PasswordHash {
  /// The longest password, as crypt(3) permits.
  private static let longestPassword = 511

  /// Returns the hash of a password with a random salt. Returns `nil` if it contains NUL, or the system has no randomness.
  /// Takes some tens of milliseconds.
  static func made(of password: [UInt8]) -> String? {
    var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
    guard unsafe crypt_gensalt_rn("$y$", 0, nil, 0, &setting, Int32(setting.count)) != nil else { return nil }
    return hash(password, text(setting))
  }

  /// Returns the hash of a password. Throws a refusal if it is too short or too long.
  static func checked(_ password: [UInt8]) throws -> String {
    guard let hash = made(of: try permitted(password)) else {
      throw Refusal(.failure, "cannot hash the password: \(describe(errno))")
    }
    return hash
  }

  /// Returns whether a hash is one of a method that the library considers safe.
  static func isUsable(_ hash: String) -> Bool {
    guard hash.hasPrefix("$") else { return false }
    return unsafe crypt_checksalt(hash) == CRYPT_SALT_OK
  }

  /// Returns whether a password has a hash. Takes some tens of milliseconds.
  static func isPassword(_ password: [UInt8], of hash: String) -> Bool {
    guard let made = self.hash(password, hash) else { return false }
    return Secret(Array(hash.utf8)).matches(Array(made.utf8))
  }

  private static func hash(_ password: [UInt8], _ setting: String) -> String? {
    guard !password.contains(0), password.count < Int(CRYPT_MAX_PASSPHRASE_SIZE) else { return nil }
    var data: UnsafeMutableRawPointer?
    var size: Int32 = 0
    defer { unsafe free(data) }
    let phrase = password.map { CChar(bitPattern: $0) } + [0]
    guard let made = unsafe crypt_ra(phrase, setting, &data, &size) else { return nil }
    return unsafe String(cString: made)
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads a password from the terminal, twice and without showing it, or the first line of standard input.
  static func entered(for name: String) throws -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      return try permitted(Array(PrivateFile.text(at: "-", option: "standard input", isLine: true).utf8))
    }
    let password = try permitted(PasswordPrompt.ask("Password of \(name)") ?? [])
    guard try PasswordPrompt.ask("Again") ?? [] == password else { throw Refusal(.usage, "the passwords differ") }
    return password
  }

  private static func permitted(_ password: [UInt8]) throws -> [UInt8] {
    guard (8...longestPassword).contains(password.count), !password.contains(0) else {
      throw Refusal(.usage, "the password has less than 8 or more than \(longestPassword) bytes")
    }
    return password
  }
}
