internal import Catalogue
internal import Glibc

/// Distinguishes failures due to the file from failures due to the machine.
///
/// Most libraries report a failed write or allocation as they report damaged input, if they report it at all.
extension JobFailure {
  /// Returns the failure with its actual cause. `output` is the file that the job wrote. It is `nil` if the job wrote
  /// none.
  func settled(_ output: JobOutput?) -> JobFailure {
    switch failure {
    case .memory:
      // If memory is available, the allocation that failed has a size that the file claims.
      return Self.hasMemory ? JobFailure(.limit, "needs more memory than a converter may take") : self
    case .damaged, .unsupported, .limit, .system:
      if let refusal = Self.refusals.first(where: { reason.contains($0.words) }) {
        return JobFailure(refusal.failure, reason)
      }
      do throws(JobFailure) { try output?.reasonForFailure() } catch { return error }
      return self
    case .locked, .absent, .unprotected, .noSpace: return self
    }
  }

  /// The C library's messages for exhausted resources, which libraries include in their own messages.
  private static let refusals: [(words: String, failure: JobAnswer.Failure)] =
    [(ENOSPC, .noSpace), (EDQUOT, .noSpace), (EMFILE, .system), (ENFILE, .system)].map { code, failure in
      (unsafe String(cString: strerror(code)), failure)
    }

  /// Whether this process can allocate as much memory as most jobs need.
  private static var hasMemory: Bool {
    let size = 256 << 20
    guard let memory = unsafe malloc(size) else { return false }
    // Keeps the compiler from removing the allocation.
    unsafe memory.storeBytes(of: 1, as: UInt8.self)
    unsafe free(memory)
    return true
  }
}
