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

  private func head(_ opcode: UInt32) -> RequestHeader {
    var words = [UInt32](repeating: 0, count: 16)
    words[0] = 64
    words[1] = opcode
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

  @Test func onlyUncountedRequestsAreRepeatable() {
    for opcode in UInt32(1)...52 { #expect(head(opcode).isRepeatable == !Self.once.contains(opcode), "\(opcode)") }
  }
}
