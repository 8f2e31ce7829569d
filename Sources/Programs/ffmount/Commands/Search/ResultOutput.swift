import Assembly
import Glibc
import SystemPackage

/// Standard output for results, in large writes.
struct ResultOutput {
  private var bytes: [UInt8] = []
  /// The errno of a failed write, after which nothing more is written.
  private(set) var error: Int32?
  /// Whether nothing more can be written.
  private(set) var isOver = false

  private static let blockSize = 64 << 10

  /// Appends bytes to those that are written next.
  mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// Writes the bytes if they are many. Returns whether more can be written.
  mutating func flushIfFull() -> Bool {
    if bytes.count > Self.blockSize { flush() }
    return !isOver
  }

  mutating func flush() {
    do throws(SystemError) { try Output.write(bytes) } catch {
      // The pipe's reader has closed it.
      self.error = error.code == EPIPE ? nil : error.code
      isOver = true
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
