public import Bytes
public import Files
internal import Synchronization

/// Bytes of which other conversions have to make some first. What identifies them is known before.
public protocol GatheredSource: ByteSource {
  /// The bytes as they are passed to a worker; throws `pending` while some are made. Blocks.
  func gather() throws(Fault) -> any ByteSource
}

extension ConversionService {
  /// What a worker gets of a file's bytes: nobody has a worker while these are made.
  func gathered(
    _ bytes: any ByteSource, for key: Key, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    guard let parts = bytes as? any GatheredSource else { return bytes }
    if patience == .immediate { throw .later }
    do throws(Fault) { return try parts.gather() } catch {
      if !error.isDelay {
        state.withLock { $0.note(Failure(fault: error, isLasting: false, pending: nil), key) }
      }
      throw error
    }
  }

  /// A temporary file without a name, for bytes that are gathered.
  public func spool() throws(Fault) -> TemporaryFile { try TemporaryFile(in: spools) }

  /// How many jobs go on at a time.
  public var width: Int { pool.width }

  /// Whether what was made of a file took a password.
  public func isProtected(_ subject: Subject) -> Bool { !isOpen(subject.revision) }
}
