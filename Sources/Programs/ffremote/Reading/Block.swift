import Glibc
import Synchronization

/// A piece of memory for bytes that come in.
@safe final class Block: @unchecked Sendable {
  // Sendable: bytes are written before anybody is told of them, and not changed after.
  let memory: UnsafeMutableRawBufferPointer

  /// In bytes.
  static let size = 1 << 20

  @safe private struct Spare: @unchecked Sendable {
    var all: [UnsafeMutableRawBufferPointer] = unsafe []
  }

  /// Memory of blocks that are gone: the system would have to clear new one.
  private static let spare = Mutex(Spare())
  private static let mostSpare = 12

  init() {
    unsafe memory =
      unsafe Self.spare.withLock { unsafe $0.all.popLast() } ?? .allocate(byteCount: Self.size, alignment: 4096)
  }

  deinit {
    let memory = unsafe self.memory
    let isKept = Self.spare.withLock { spare in
      guard unsafe spare.all.count < Self.mostSpare else { return false }
      unsafe spare.all.append(memory)
      return true
    }
    if !isKept { unsafe memory.deallocate() }
  }
}
