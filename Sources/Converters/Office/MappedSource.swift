internal import Bytes
internal import Glibc
internal import WorkerKit

/// A job's input as a byte source.
final class MappedSource: ByteSource {
  private let input: JobInput
  var size: Int64 { Int64(input.count) }
  var identity: ByteIdentity? { nil }

  init(_ input: JobInput) { self.input = input }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let count = unsafe input.read(into: buffer, at: Int(offset))
    guard count >= 0 else { throw Fault(.system(errno), "cannot be read") }
    return count
  }
}
