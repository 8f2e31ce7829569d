import Bytes
import Glibc
import NIOCore

/// An open file that any number of responses send parts of. It is closed when the last of them has been sent.
final class SharedFile: Sendable {
  let handle: NIOFileHandle

  /// Duplicates a descriptor that another owner keeps. Throws the errno of dup(2).
  init(copying descriptor: Int32) throws(Fault) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw Fault(.system(errno), "dup") }
    handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: copy)
  }

  deinit { try? handle.close() }
}
