public import Bytes

/// A place for bytes that were dear to make, with room given back when nobody holds it any more.
///
/// What is written once does not change, so its reader may take it by descriptor. Several threads may read while one
/// writes.
public protocol Spool: DescriptorHolder {
  /// Throws when there is no room; then nothing counts as written. Blocks on the disk.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Fault)

  /// Fills `buffer` with what was written before. Blocks on the disk.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault)
}

/// Gives a new spool, or nil where there can be none.
public typealias SpoolMaker = @Sendable () -> (any Spool)?
