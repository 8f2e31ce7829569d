/// Names bytes from one mount to the next: the file that they come from, in one state of it, and the steps from there.
///
/// Exact: two that are equal name the same bytes.
public struct ByteIdentity: Hashable, Sendable {
  /// Device, inode, size, the times of the last change of the bytes and of anything else, in seconds and nanoseconds.
  public let file: [UInt64]
  /// Each step says which of the bytes before it are taken and how these are made of them.
  public private(set) var steps: [UInt64] = []

  /// `changed` is the time that no program sets: bytes that were rewritten and given their old `modified` are others.
  public init(device: UInt64, inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp) {
    let times = [modified, changed].flatMap {
      [UInt64(bitPattern: $0.seconds), UInt64(UInt32(bitPattern: $0.nanoseconds))]
    }
    file = [device, inode, UInt64(bitPattern: size)] + times
  }

  /// What a step does.
  public enum Step: UInt64, Sendable {
    /// Takes a part: where it starts, its size.
    case range = 1
    /// Decodes Deflate: the size and the CRC of what comes out.
    case inflate = 2
    /// Decodes a mail's transfer encoding: the decoder's number, the size of what comes out.
    case decodeTransfer = 3
    /// Converts: the first half of the recipe's SHA-256, as two words.
    case convert = 4
    /// Puts several files one behind the other: how many they are, 0; then of each its name and its identity.
    case bundle = 5
  }

  /// Several files, one behind the other; nil for none.
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
}
