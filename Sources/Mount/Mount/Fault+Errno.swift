internal import Bytes
internal import Glibc
internal import Tree

extension Fault {
  /// Whether the failure is logged: damaged content or a full or failing disk, but not missing names.
  var shouldLog: Bool {
    switch kind {
    case .system(let code): !reason.isEmpty && [ENOSPC, EDQUOT, EIO].contains(code)
    default: concernsContent
    }
  }

  /// The errno of a failure. All conversions to an errno happen here.
  var errno: Int32 {
    switch kind {
    case .system(let code): code
    case .locked: EACCES
    case .damaged, .changed, .unsupported, .limit: EIO
    case .interrupted: EINTR
    // Delays are retried by a worker and never reach the kernel.
    case .later, .pending: EAGAIN
    }
  }
}
