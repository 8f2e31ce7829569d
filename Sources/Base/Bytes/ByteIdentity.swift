/// A key for bytes that is stable across mounts: the source file in one state, and the steps that derive the bytes.
///
/// Exact: equal keys name the same bytes.
public struct ByteIdentity: Hashable, Sendable {
  /// The device, inode, size, mtime and ctime. Times are in seconds and nanoseconds.
  public let file: [UInt64]
  /// The derivation steps. Each selects some of the preceding bytes and tells how the result is computed from them.
  public private(set) var steps: [UInt64] = []

  /// Creates the identity of a file. `changed` is the ctime, which no program can set: rewritten bytes have a new
  /// identity even if their old `modified` is restored.
  public init(device: UInt64, inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp) {
    let times = [modified, changed].flatMap {
      [UInt64(bitPattern: $0.seconds), UInt64(UInt32(bitPattern: $0.nanoseconds))]
    }
    file = [device, inode, UInt64(bitPattern: size)] + times
  }

  /// The kinds of derivation step.
  public enum Step: UInt64, Sendable {
    /// Selects a range. Arguments: its start, its size.
    case range = 1
    /// Decodes Deflate. Arguments: the size and the CRC of the output.
    case inflate = 2
    /// Decodes a message's transfer encoding. Arguments: the decoder's number, the size of the output.
    case decodeTransfer = 3
    /// Converts. Arguments: the first half of the recipe's SHA-256, as two 64-bit words.
    case convert = 4
    /// Concatenates several files. Arguments: their number, 0. The name and the identity of each file follow.
    case bundle = 5
    /// Decompresses a whole file. Arguments: the format, 1 if damaged bytes are readable or 0.
    case unpack = 6
  }

  /// Creates the identity of several concatenated files. Returns `nil` if there are none.
  public init?(bundling parts: [(name: FileName, identity: ByteIdentity)]) {
    guard let first = parts.first else { return nil }
    file = first.identity.file
    steps = [Step.bundle.rawValue, UInt64(parts.count), 0]
    for part in parts {
      steps.append(UInt64(part.name.count))
      steps += part.name.bytes.map { UInt64($0) }
      steps += part.identity.file
      steps.append(UInt64(part.identity.steps.count))
      steps += part.identity.steps
    }
  }

  public func adding(_ step: Step, _ one: UInt64, _ other: UInt64) -> ByteIdentity {
    var longer = self
    longer.steps += [step.rawValue, one, other]
    return longer
  }
}

extension ByteSource {
  public var identity: ByteIdentity? { nil }
  public var isSettling: Bool { false }
}
