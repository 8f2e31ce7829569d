import Testing

@testable import FuseLink

/// The messages by which the kernel forgets a name (struct fuse_notify_inval_entry_out of linux/fuse.h).
@Suite struct KernelNoticeTests {
  @Test(arguments: ["a", "ü.txt", String(repeating: "x", count: 255)])
  func messageHasItsLengthAndEndsWithNUL(_ name: String) throws {
    let folder: UInt64 = 0x0102_0304_0506_0708
    let bytes = unsafe try #require(name.withCString { unsafe Session.invalidation(of: $0, in: folder) })
    func number(_ start: Int, _ count: Int) -> UInt64 {
      bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    #expect(number(0, 4) == UInt64(bytes.count) && number(4, 4) == 3 && number(8, 8) == 0)
    #expect(number(16, 8) == folder && number(24, 4) == UInt64(name.utf8.count) && number(28, 4) == 0)
    #expect(bytes[32...].elementsEqual(Array(name.utf8) + [0]))
  }

  @Test func longerNameIsNotSent() {
    let name = String(repeating: "x", count: 256)
    #expect(unsafe name.withCString { unsafe Session.invalidation(of: $0, in: 1) } == nil)
  }
}
