/// A key for bytes that is stable across mounts: the file that they come from, in one state of it, and the steps from
/// there.
///
/// Exact: equal keys name the same bytes.
public struct ByteIdentity: Hashable, Sendable {
  /// Device, inode, size, mtime and ctime in seconds and nanoseconds.
  public let file: [UInt64]
  /// Each step says which of the preceding bytes are taken and how the result is made of them.
  public private(set) var steps: [UInt64] = []

  /// `changed` is the ctime, which no program sets: bytes that were rewritten and given their old `modified` are
  /// others.
  public init(device: UInt64, inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp) {
    let times = [modified, changed].flatMap {
      [UInt64(bitPattern: $0.seconds), UInt64(UInt32(bitPattern: $0.nanoseconds))]
    }
    file = [device, inode, UInt64(bitPattern: size)] + times
  }

  /// What a step does.
  public enum Step: UInt64, Sendable {
    /// Takes a range: its start, its size.
    case range = 1
    /// Inflates Deflate: the size and the CRC of the output.
    case inflate = 2
    /// Decodes a mail's transfer encoding: the decoder's number, the size of the output.
    case decodeTransfer = 3
    /// Converts: the first half of the recipe's SHA-256, as two words.
    case convert = 4
    /// Concatenates several files: their number, 0; then the name and the identity of each.
    case bundle = 5
    /// Decompresses a whole file: the format, 0.
    case unpack = 6
  }

  /// Several files, concatenated; nil if there are none.
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
