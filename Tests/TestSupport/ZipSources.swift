public import Bytes
internal import Glibc
internal import Synchronization

/// A source of any size that is zero except for a few ranges.
public final class SparseSource: ByteSource {
  public let size: Int64
  private let pieces: [(offset: Int64, bytes: [UInt8])]

  public init(size: Int64, _ pieces: [(offset: Int64, bytes: [UInt8])]) {
    self.size = size
    self.pieces = pieces
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size, let base = buffer.baseAddress else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let range = offset..<offset + Int64(wanted)
    _ = unsafe memset(base, 0, wanted)
    for piece in pieces {
      let overlap = range.clamped(to: piece.offset..<piece.offset + Int64(piece.bytes.count))
      for place in overlap { unsafe buffer[Int(place - offset)] = piece.bytes[Int(place - piece.offset)] }
    }
    return wanted
  }
}

/// A source whose reads fail as a test specifies.
public final class FailingSource: ByteSource {
  private let source: any ByteSource
  private let fails: @Sendable (_ read: Int, _ offset: Int64) -> Fault?
  private let reads = Mutex(0)
  public var size: Int64 { source.size }

  /// `fails` is called before each read, with its number from 0 on.
  public init(_ source: any ByteSource, fails: @escaping @Sendable (_ read: Int, _ offset: Int64) -> Fault?) {
    self.source = source
    self.fails = fails
  }

  public var readCount: Int { reads.withLock { $0 } }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    let number = reads.withLock { reads in
      defer { reads += 1 }
      return reads
    }
    if let fault = fails(number, offset) { throw fault }
    return unsafe try source.read(into: buffer, at: offset, blocking)
  }
}

extension ByteSource {
  /// Reads everything front to back in reads of `step` bytes, requesting more than there is at the end.
  public func readThrough(step: Int = 64 << 10) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let part = try partialBytes(at: Int64(bytes.count), count: step)
      if part.isEmpty { return bytes }
      bytes += part
    }
  }

  /// The bytes that one read returns.
  public func partialBytes(at offset: Int64, count: Int, _ blocking: BlockingMode = .blocking) throws(Fault) -> [UInt8]
  {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        initialized = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset, blocking)
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes
  }
}
