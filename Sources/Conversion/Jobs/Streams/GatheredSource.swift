public import Bytes
public import Files
internal import Locks

/// A source whose bytes are composed of several files, some of which have to be converted first. Its identity is known
/// before that.
public protocol GatheredSource: ByteSource {
  /// Returns the bytes that are passed to a worker. Throws `pending` while some are being made. Blocks.
  func gather() throws(Fault) -> any ByteSource
}

extension ConversionService {
  /// Returns the bytes that are passed to a worker. No worker is occupied while other conversions make them.
  func gathered(
    _ bytes: any ByteSource, for key: Key, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    guard let parts = bytes as? any GatheredSource else { return bytes }
    if blocking == .immediate { throw .later }
    do throws(Fault) { return try parts.gather() } catch {
      if !error.isDelay {
        state.withLock { $0.note(Failure(fault: error, isLasting: false, pending: nil), key) }
      }
      throw error
    }
  }

  /// Creates an unnamed temporary file for gathered bytes.
  public func spool() throws(Fault) -> TemporaryFile { try TemporaryFile(in: spools) }

  /// The maximum number of concurrent jobs, not counting long ones.
  public var width: Int { pool.width }

  /// Returns whether conversions of the file required a password.
  public func isProtected(_ subject: Subject) -> Bool { !isOpen(subject.revision) }
}
