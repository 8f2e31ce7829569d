import Glibc
import Locks

/// A memory block for received bytes.
@safe final class Block: @unchecked Sendable {
  // Sendable: bytes are written before other threads learn of them, and not changed afterwards.
  let memory: UnsafeMutableRawBufferPointer

  /// The size of a block, in bytes.
  static let size = 1 << 20

  @safe private struct Spare: @unchecked Sendable {
    var all: [UnsafeMutableRawBufferPointer] = unsafe []
  }

  /// The memory of released blocks. The system would have to clear new memory.
  private static let spare = UnfairLock(Spare())
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
