internal import Bytes

/// The bytes of one reply.
@safe final class ReadBuffer: @unchecked Sendable {
  // Sendable: written once, before any other thread sees it.
  let bytes: UnsafeRawBufferPointer

  init(_ source: any ByteSource, at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    do throws(Fault) {
      let filled = unsafe try source.read(into: memory, at: offset, blocking)
      unsafe bytes = UnsafeRawBufferPointer(rebasing: memory[..<filled])
    } catch {
      unsafe memory.deallocate()
      throw error
    }
  }

  deinit { unsafe bytes.deallocate() }
}
