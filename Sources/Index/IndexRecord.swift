internal import Bytes

/// A sort of value, with its users' own number and the version of its format. Values of another version are not found.
public struct IndexKind: Hashable, Sendable {
  public let number: UInt32
  public let version: UInt64

  public init(number: UInt32, version: UInt64) {
    self.number = number
    self.version = version
  }
}

/// A value and the key that it is found by, among those of one source and kind.
public struct IndexRecord: Hashable, Sendable {
  /// Ranges run in the order of the keys' bytes.
  public var key: [UInt8]
  public var value: [UInt8]

  public init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

extension IndexKind {
  /// Where the checksums of a source's records of this kind start from.
  func seed(of source: [UInt8]) -> StableHash {
    var hash = StableHash(seed: UInt64(number)).adding(version)
    hash.combine(words: source)
    return hash
  }
}

extension IndexKind {
  /// Eight bytes that name some bytes.
  func hash(of bytes: [UInt8]) -> [UInt8] {
    let value = seed(of: bytes).value
    return (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }
}

extension IndexRecord {
  /// Over the value and all that it is found by, so that neither can change unnoticed.
  func checksum(from seed: StableHash) -> Int64 {
    var hash = seed
    hash.combine(words: key)
    hash.combine(words: value)
    return Int64(bitPattern: hash.value)
  }
}

extension StableHash {
  /// Eight bytes a step: a change within any one step changes the hash for sure.
  fileprivate mutating func combine(words bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    var place = 0
    while place + 8 <= span.byteCount {
      combine(unsafe UInt64(littleEndian: span.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    combine(rest)
    combine(UInt64(bytes.count))
  }
}
