internal import Bytes
internal import Tree

/// Calls a function before each read of another source, for progress and cancellation.
final class WatchedSource: ByteSource {
  private let source: any ByteSource
  /// Called with the read's offset. The read rethrows its faults.
  private let watch: @Sendable (Int64) throws(Fault) -> Void

  init(_ source: any ByteSource, _ watch: @escaping @Sendable (Int64) throws(Fault) -> Void) {
    self.source = source
    self.watch = watch
  }

  var size: Int64 { source.size }
  var identity: ByteIdentity? { source.identity }
  var isSettling: Bool { source.isSettling }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    try watch(offset)
    return unsafe try source.read(into: buffer, at: offset, blocking)
  }

  func extent(at offset: Int64, count: Int) -> Extent? { source.extent(at: offset, count: count) }
  func verify() throws(Fault) { try source.verify() }
  func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try source.willMove(at: offset, count: count, blocking)
  }
  func workAhead(of offset: Int64) -> WorkAhead { source.workAhead(of: offset) }
  func prepare(at offset: Int64) { source.prepare(at: offset) }
}
