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
  func seed(of source: [UInt8], key: [UInt8]) -> KeyedHash {
    var hash = KeyedHash(key: key)
    hash.combine(UInt64(number))
    hash.combine(version)
    hash.combine(field: source)
    return hash
  }
}

extension IndexKind {
  /// Eight bytes that name some bytes.
  static func hash(of bytes: [UInt8]) -> [UInt8] {
    var hash = StableHash()
    hash.combine(bytes)
    return (0..<8).map { UInt8(truncatingIfNeeded: hash.value >> (56 - 8 * $0)) }
  }
}

extension IndexRecord {
  /// Over the value and all that it is found by, so that neither can change unnoticed, and that none can be made without the
  /// key.
  func checksum(from seed: KeyedHash) -> Int64 {
    var hash = seed
    hash.combine(field: key)
    hash.combine(field: value)
    return Int64(bitPattern: hash.value)
  }
}
