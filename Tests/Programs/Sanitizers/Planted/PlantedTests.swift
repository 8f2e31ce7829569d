internal import Glibc
import Testing

/// Defects that `scripts/check sanitize` has to find, to show that it would find others. They pass as tests.
@Suite(.enabled(if: unsafe getenv("FFMOUNT_PLANTED") != nil))
struct PlantedTests {
  fileprivate nonisolated(unsafe) static var count = 0

  /// Two threads that nothing orders, whether or not they run at once.
  @Test func aRaceIsFound() {
    let threads = (0..<2).map { _ in
      var thread = pthread_t()
      _ = unsafe pthread_create(
        &thread, nil,
        { _ in
          unsafe PlantedTests.count += 1
          return nil
        }, nil)
      return thread
    }
    for thread in threads { _ = pthread_join(thread, nil) }
  }

  @Test func aReadBeyondTheEndIsFound() {
    let memory = unsafe UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 1)
    defer { unsafe memory.deallocate() }
    unsafe Self.count += Int(memory.load(fromByteOffset: Self.end(), as: UInt8.self))
  }

  /// Not known to the compiler.
  @inline(never) private static func end() -> Int { unsafe getenv("FFMOUNT_PLANTED") == nil ? 0 : 16 }
}
