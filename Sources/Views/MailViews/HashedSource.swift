internal import Bytes
internal import Codecs
internal import Locks
internal import Tree

/// Hashes a source while it is read sequentially; ranges that the reader skips are read for the hash.
final class HashedSource: ByteSource {
  private let source: any ByteSource
  private let state: UnfairLock<BlockIndex.Hash>

  private static let readSize = 192 << 10

  /// Continues a hash of the source's start.
  init(_ source: any ByteSource, from hash: BlockIndex.Hash = .init()) {
    self.source = source
    state = UnfairLock(hash)
  }

  /// The hash of the bytes up to the offset reached.
  var hash: BlockIndex.Hash { state.withLock { $0 } }

  var size: Int64 { source.size }
  var identity: ByteIdentity? { source.identity }
  var isSettling: Bool { source.isSettling }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    try reach(offset)
    let count = unsafe try source.read(into: buffer, at: offset, blocking)
    unsafe add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
    return count
  }

  /// Hashes everything before `end`. Blocks.
  func reach(_ end: Int64) throws(Fault) {
    while true {
      let place = hash.size
      guard place < end else { return }
      let block = try source.bytes(at: place, count: Int(min(Int64(Self.readSize), end - place)))
      unsafe block.withUnsafeBytes { unsafe add($0, at: place) }
    }
  }

  private func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    state.withLock { state in
      let known = state.size - offset
      guard known >= 0, known < bytes.count else { return }
      var sum = CRC32(continuing: state.value)
      unsafe sum.update(UnsafeRawBufferPointer(rebasing: bytes[Int(known)...]))
      state = BlockIndex.Hash(size: offset + Int64(bytes.count), value: sum.value)
    }
  }

  func verify() throws(Fault) { try source.verify() }
}
