public import Bytes
public import Codecs
internal import Synchronization

/// A spool in memory, with a limited capacity.
public final class MemorySpool: Spool {
  private let bytes = Mutex<[UInt8]>([])
  private let capacity: Int

  /// `capacity` in bytes.
  public init(capacity: Int = .max) { self.capacity = capacity }

  public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Fault) {
    let isFull = self.bytes.withLock { held in
      guard Int(offset) + bytes.count <= capacity else { return true }
      let end = Int(offset) + bytes.count
      if held.count < end { held += [UInt8](repeating: 0, count: end - held.count) }
      unsafe held.replaceSubrange(Int(offset)..<end, with: Array(bytes))
      return false
    }
    if isFull { throw Fault(.system(28), "write") }
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault) {
    bytes.withLock { unsafe buffer.copyBytes(from: $0[Int(offset)..<Int(offset) + buffer.count]) }
  }

  /// There is no descriptor.
  public func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result { try body(-1) }
}
