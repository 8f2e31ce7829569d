internal import Catalogue
internal import Glibc

/// Whether a failure is due to the file or to the machine.
///
/// Most libraries report a failed write or allocation as they report damaged input, if they report it at all.
extension JobFailure {
  /// Returns the failure with its actual cause. `output` is the file that the job wrote; nil if it wrote none.
  func settled(_ output: JobOutput?) -> JobFailure {
    switch failure {
    case .memory:
      // An allocation that fails while there is memory is of a size that the file claims.
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

  /// What the C library says of a machine that lacks something, whose words libraries pass on.
  private static let refusals: [(words: String, failure: JobAnswer.Failure)] =
    [(ENOSPC, .noSpace), (EDQUOT, .noSpace), (EMFILE, .system), (ENFILE, .system)].map { code, failure in
      (unsafe String(cString: strerror(code)), failure)
    }

  /// Whether this process can get as much memory as most jobs take.
  private static var hasMemory: Bool {
    let size = 256 << 20
    guard let memory = unsafe malloc(size) else { return false }
    // Keeps the compiler from leaving the allocation out.
    unsafe memory.storeBytes(of: 1, as: UInt8.self)
    unsafe free(memory)
    return true
  }
}
