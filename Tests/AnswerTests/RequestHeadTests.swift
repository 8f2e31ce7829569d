import CFuse3
import Testing

@testable import FuseLink

/// The kernel's requests by number (linux/fuse.h), and whether a signal may end the wait for them.
@Suite struct RequestHeadTests {
  private static let abandonable: [UInt32: String] = [
    1: "LOOKUP", 3: "GETATTR", 5: "READLINK", 14: "OPEN", 15: "READ", 17: "STATFS", 20: "FSYNC", 22: "GETXATTR",
    23: "LISTXATTR", 25: "FLUSH", 27: "OPENDIR", 28: "READDIR", 30: "FSYNCDIR", 31: "GETLK", 33: "SETLKW", 34: "ACCESS",
    44: "READDIRPLUS", 46: "LSEEK",
  ]
  /// A caller that is told of a signal would repeat these, or believe that nothing was changed.
  private static let changing: [UInt32: String] = [
    4: "SETATTR", 6: "SYMLINK", 8: "MKNOD", 9: "MKDIR", 10: "UNLINK", 11: "RMDIR", 12: "RENAME", 13: "LINK",
    16: "WRITE", 21: "SETXATTR", 24: "REMOVEXATTR", 35: "CREATE", 43: "FALLOCATE", 45: "RENAME2",
    47: "COPY_FILE_RANGE", 51: "TMPFILE",
  ]
  /// These are counted, so that another process must not count them again.
  private static let once: Set<UInt32> = [2, 26, 36, 42]

  private func head(_ opcode: UInt32, of thread: UInt32 = 1) -> RequestHeader {
    var words = [UInt32](repeating: 0, count: 16)
    words[0] = 64
    words[1] = opcode
    words[8] = thread
    return unsafe words.withUnsafeMutableBytes { bytes in
      var buffer = unsafe fuse_buf()
      unsafe buffer.mem = bytes.baseAddress
      unsafe buffer.size = bytes.count
      return unsafe RequestHeader(buffer)
    }
  }

  @Test func onlyRequestsWithoutEffectsAreAbandonable() {
    for (opcode, name) in Self.abandonable { #expect(head(opcode).isAbandonable, "\(name)") }
    for (opcode, name) in Self.changing { #expect(!head(opcode).isAbandonable, "\(name)") }
  }

  /// Behind the request of a thread that waits for its reply there are only those that nothing waits for: FORGET and
  /// RELEASE. Another reader would be woken by each of them.
  @Test func requestsOfOneThreadNeedOneReader() {
    for opcode: UInt32 in [1, 3, 10, 12, 16, 35] {
      #expect(!head(opcode, of: 7).mayHaveCompany(after: 7), "\(opcode)")
      #expect(head(opcode, of: 7).mayHaveCompany(after: 8), "\(opcode)")
      // A thread that this process cannot see.
      #expect(head(opcode, of: 0).mayHaveCompany(after: 0), "\(opcode)")
    }
    // Reads are sent ahead.
    #expect(head(15, of: 7).mayHaveCompany(after: 7))
    for opcode: UInt32 in [2, 18, 29, 36, 42] { #expect(!head(opcode, of: 7).mayHaveCompany(after: 8), "\(opcode)") }
  }

  @Test func onlyUncountedRequestsAreRepeatable() {
    for opcode in UInt32(1)...52 { #expect(head(opcode).isRepeatable == !Self.once.contains(opcode), "\(opcode)") }
  }
}
