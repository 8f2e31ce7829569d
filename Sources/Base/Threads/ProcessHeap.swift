internal import CPosix
internal import Glibc

/// The memory of a process that a budget keeps within its capacity. Tests count with one of their own.
package protocol ProcessHeap: Sendable {
  /// The resident memory, in bytes. Nil if it cannot be read.
  var size: Int? { get }

  /// Returns freed memory to the system.
  func trim()

  /// Waits for a second.
  func pause()

  /// Runs `job` on another thread.
  func run(_ job: @escaping @Sendable () -> Void)
}

/// The memory of this process.
final class OwnHeap: ProcessHeap {
  private let pool = ThreadPool(atMost: 1)

  var size: Int? { OwnMemory.now?.resident }

  func trim() { ffmount_trim_heap() }

  func pause() { _ = usleep(1_000_000) }

  func run(_ job: @escaping @Sendable () -> Void) { pool.submit(job) }
}
