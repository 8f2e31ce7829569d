/// Names bytes from one mount to the next: the file that they come from, in one state of it, and the steps from there.
///
/// Exact: two that are equal name the same bytes.
public struct ByteIdentity: Hashable, Sendable {
  /// Device, inode, size, time of the last change in seconds and nanoseconds.
  public let file: [UInt64]
  /// Each step says which of the bytes before it are taken and how these are made of them.
  public private(set) var steps: [UInt64] = []

  public init(device: UInt64, inode: UInt64, size: Int64, modified: Timestamp) {
    file = [
      device, inode, UInt64(bitPattern: size), UInt64(bitPattern: modified.seconds),
      UInt64(UInt32(bitPattern: modified.nanoseconds)),
    ]
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
