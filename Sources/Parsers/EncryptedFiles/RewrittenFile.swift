internal import Bytes
internal import Codecs

/// A file that consists of parts of another one, some of them decrypted, and of other bytes.
struct RewrittenFile: Sendable {
  private enum Part: Sendable {
    case bytes([UInt8])
    case stored(start: Int64, count: Int64)
    case decrypted(start: Int64, count: Int64, Cipher, size: Int64)
  }

  private var parts: [Part] = []
  /// Whether checksums in the other file cannot be compared, and are left out.
  var isUnchecked = false
  /// The size of the parts in memory.
  private var memory = 0

  /// The maximum size of the parts in memory, in bytes.
  private static let mostMemory = 64 << 20
  private static let partCost = 128

  private mutating func count(_ size: Int) throws(Fault) {
    memory += size + Self.partCost
    guard memory <= Self.mostMemory else {
      throw Fault(.limit, "the headers of its encrypted files take too much memory")
    }
  }

  mutating func append(_ bytes: [UInt8]) throws(Fault) {
    try count(bytes.count)
    if case .bytes(let before) = parts.last {
      parts[parts.count - 1] = .bytes(before + bytes)
    } else {
      parts.append(.bytes(bytes))
    }
  }

  /// Appends bytes of the other file.
  mutating func append(from start: Int64, count: Int64) throws(Fault) {
    guard count > 0 else { return }
    try self.count(0)
    parts.append(.stored(start: start, count: count))
  }

  /// Appends the first `size` decrypted bytes of a part of the other file.
  mutating func append(from start: Int64, count: Int64, by cipher: Cipher, size: Int64) throws(Fault) {
    guard size > 0 else { return }
    try self.count(0)
    parts.append(.decrypted(start: start, count: count, cipher, size: size))
  }

  func source(of file: any ByteSource) throws(Fault) -> any ByteSource {
    let joined = try JoinedSource(
      parts.map { part in
        switch part {
        case .bytes(let bytes): ("", ByteArraySource(bytes))
        case .stored(let start, let count): ("", ByteRange(of: file, start: start, size: count))
        case .decrypted(let start, let count, let cipher, let size):
          ("", DecryptedSource(of: ByteRange(of: file, start: start, size: count), cipher, size: size))
        }
      })
    return isUnchecked ? UncheckedSource(joined) : joined
  }
}

/// Bytes whose checksums cannot be compared.
private final class UncheckedSource: ByteSource {
  private let bytes: any ByteSource
  var size: Int64 { bytes.size }
  var identity: ByteIdentity? { nil }

  init(_ bytes: any ByteSource) { self.bytes = bytes }

  func verify() throws(Fault) { try bytes.verify() }
  func assurance(of range: Range<Int64>) -> Assurance { .open }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int { unsafe try bytes.read(into: buffer, at: offset, blocking) }
}
