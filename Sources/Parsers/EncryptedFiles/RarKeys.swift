internal import Bytes

/// The salt and the rounds by which a password becomes a key.
struct RarKeySource: Sendable {
  let salt: [UInt8]
  /// The binary logarithm of the number of rounds.
  let power: UInt8
  /// Tells a wrong password. Nil if nothing does.
  let check: [UInt8]?
  let version: UInt64

  /// The maximum power, which takes about half a second. Programs use 15.
  private static let mostPower: UInt8 = 20

  var unsupported: UnsupportedPart? {
    if version != 0 { return UnsupportedPart("version \(version) of the encryption of RAR") }
    if power > Self.mostPower { return UnsupportedPart("more than \(1 << Self.mostPower) rounds for a password") }
    return nil
  }
}

/// The description of the encryption of one file, or of all headers.
struct RarEncryption {
  let keys: RarKeySource
  /// Empty for headers, each of which follows its own.
  let vector: [UInt8]
  /// Whether checksums depend on the key.
  let hidesSums: Bool

  private static let saltSize: UInt64 = 16
  private static let checkSize = 8
  private static let sumSize = 4

  /// - Parameter content: The record of a file, or the fields of the header before those that are encrypted.
  init(_ content: [UInt8], ofHeaders: Bool = false) throws(Fault) {
    var numbers = RarNumbers(content)
    let (version, flags) = (try numbers.next(), try numbers.next())
    let power = try numbers.bytes(1)[0]
    let salt = try numbers.bytes(Self.saltSize)
    vector = try numbers.bytes(ofHeaders ? 0 : UInt64(Cipher.aesBlock))
    hidesSums = flags & 2 != 0
    let check = flags & 1 != 0 ? try numbers.bytes(UInt64(Self.checkSize + Self.sumSize)) : nil
    keys = RarKeySource(salt: salt, power: power, check: check.flatMap { Self.verified($0) }, version: version)
  }

  /// Returns the check, which has a check of its own, without which it is ignored.
  private static func verified(_ check: [UInt8]) -> [UInt8]? {
    let value = Array(check.prefix(checkSize))
    let sum = (try? Digest(.sha256).hash(value)) ?? []
    return check.dropFirst(checkSize).elementsEqual(sum.prefix(sumSize)) ? value : nil
  }
}

/// The keys that a password yields.
struct RarKeys {
  private let password: [UInt8]
  private var keys: [[UInt8]: [UInt8]] = [:]
  private var checks: [[UInt8]: [UInt8]] = [:]
  private var budget = RoundBudget()

  private static let keySize = 32

  init(_ password: [UInt8]) { self.password = password }

  private mutating func derived(_ source: RarKeySource, adding more: Int) throws(Fault) -> [UInt8] {
    // A power of 63 would not be a number of rounds.
    if let part = source.unsupported { throw part.fault }
    let count = 1 << Int(source.power) + more
    try budget.spend(count)
    try CancellationToken.check()
    return try KeyDerivation.key(password, salt: source.salt, .sha256, rounds: count, size: Self.keySize)
  }

  /// Returns the key. Throws if the source is not supported.
  mutating func key(of source: RarKeySource) throws(Fault) -> [UInt8] {
    let id = source.salt + [source.power]
    if let known = keys[id] { return known }
    let made = try derived(source, adding: 0)
    keys[id] = made
    return made
  }

  /// Returns whether the password is right, or nothing tells whether it is.
  mutating func isRight(for source: RarKeySource) throws(Fault) -> Bool {
    guard let check = source.check else { return true }
    let id = source.salt + [source.power]
    if let known = checks[id] { return known == check }
    let long = try derived(source, adding: 32)
    let found = (0..<check.count).map { place in
      stride(from: place, to: long.count, by: check.count).reduce(0) { $0 ^ long[$1] }
    }
    checks[id] = found
    return found == check
  }
}
