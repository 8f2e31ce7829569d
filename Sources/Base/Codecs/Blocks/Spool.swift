public import Bytes

/// Storage for bytes that were expensive to produce, freed with its last reference.
///
/// Written bytes do not change, so they may be read by descriptor. Several threads may read while one writes.
public protocol Spool: DescriptorHolder {
  /// Writes bytes. Throws if there is not enough space; then nothing counts as written. Blocks on the disk.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Fault)

  /// Fills `buffer` with bytes written before. Blocks on the disk.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault)
}

/// A function that creates a spool. Returns `nil` if that is impossible.
public typealias SpoolMaker = @Sendable () -> (any Spool)?
