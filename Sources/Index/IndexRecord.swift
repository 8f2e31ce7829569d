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

extension IndexRecord {
  /// Over the value and all that it is found by, so that neither can change unnoticed.
  func checksum(of source: [UInt8], _ kind: IndexKind) -> Int64 {
    var hash = StableHash(seed: UInt64(kind.number)).adding(kind.version)
    for bytes in [source, key, value] { hash.combine(words: bytes) }
    return Int64(bitPattern: hash.value)
  }
}

extension StableHash {
  /// Eight bytes a step: a change of any one of them changes the hash for sure.
  fileprivate mutating func combine(words bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    var place = 0
    while place + 8 <= span.byteCount {
      combine(unsafe UInt64(littleEndian: span.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    combine(bytes[place...])
    combine(UInt64(bytes.count))
  }
}
