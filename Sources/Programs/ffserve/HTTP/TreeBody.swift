import Bytes
import NIOCore
import Tree

/// A part of a file's bytes, read as they are sent.
final class TreeBody: BodySource {
  private let file: Tree.OpenFile
  private let allocator = ByteBufferAllocator()
  private nonisolated(unsafe) var offset: Int64
  /// The end of the part. Nil to send everything.
  private let end: Int64?
  let length: Int64?

  /// The maximum size of a read, and of a client's buffer, in bytes.
  static let step = 128 << 10

  /// - Parameter range: the part to send. Nil for a file whose size is known only at its end.
  init(_ file: Tree.OpenFile, _ range: Range<Int64>?) {
    self.file = file
    unsafe offset = range?.lowerBound ?? 0
    end = range?.upperBound
    length = range.map { $0.upperBound - $0.lowerBound }
  }

  func next() throws(Fault) -> ByteBuffer? {
    let offset = unsafe self.offset
    let wanted = Int(min(Int64(Self.step), end.map { $0 - offset } ?? .max))
    guard wanted > 0 else { return nil }
    var buffer = allocator.buffer(capacity: wanted)
    var fault: Fault?
    unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { room in
      do throws(Fault) {
        return unsafe try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted]), at: offset)
      } catch {
        fault = error
        return 0
      }
    }
    if let fault { throw fault }
    if buffer.readableBytes == 0 {
      guard end == nil else { throw Fault(.changed, "it became shorter while it was sent") }
      return nil
    }
    unsafe self.offset += Int64(buffer.readableBytes)
    return buffer
  }
}

extension Tree.OpenFile {
  /// Reads bytes for a client. Fewer than requested mean the end of the file. Blocks.
  func read(into room: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault) -> Int {
    try reading(.blocking) { (source) throws(Fault) in
      let count = unsafe try source.read(into: room, at: offset, .blocking)
      unsafe try note(UnsafeRawBufferPointer(rebasing: room[..<count]), at: offset, of: source, .blocking)
      return count
    }
  }
}
