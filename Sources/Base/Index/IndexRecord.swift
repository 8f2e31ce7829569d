internal import Bytes

/// A kind of value, with its number and the version of its format. Values of another version are not found.
public struct IndexKind: Hashable, Sendable {
  public let number: UInt32
  public let version: UInt64

  public init(number: UInt32, version: UInt64) {
    self.number = number
    self.version = version
  }
}

/// A value and its key, unique within one source and kind.
public struct IndexRecord: Hashable, Sendable {
  /// The key. Ranges are in bytewise key order.
  public var key: [UInt8]
  public var value: [UInt8]

  public init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

extension IndexKind {
  /// The kind of the records of sources on other machines: listings, and versions of files.
  public static let elsewhere = IndexKind(number: 10, version: 1)

  /// Returns the initial state of the checksums of a source's records of this kind.
  func seed(of source: [UInt8], key: [UInt8]) -> KeyedHash {
    var hash = KeyedHash(key: key)
    hash.combine(UInt64(number))
    hash.combine(version)
    hash.combine(field: source)
    return hash
  }
}

extension IndexKind {
  /// Returns an eight-byte hash of `bytes`.
  static func hash(of bytes: [UInt8]) -> [UInt8] {
    var hash = StableHash()
    hash.combine(bytes)
    return [UInt8](bigEndian: hash.value)
  }
}

extension IndexRecord {
  /// Returns the checksum of the value and everything by which it is found, so that no change goes unnoticed. It cannot
  /// be forged without the key.
  func checksum(from seed: KeyedHash) -> Int64 {
    var hash = seed
    hash.combine(field: key)
    hash.combine(field: value)
    return Int64(bitPattern: hash.value)
  }
}
