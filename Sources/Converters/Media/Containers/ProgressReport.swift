internal import Glibc
internal import WorkerKit

/// Reports a job's progress several times a second.
final class ProgressReport {
  private let output: JobOutput
  private var last = 0.0
  private var hasBytes = false

  init(_ output: JobOutput) { self.output = output }

  /// Reports progress unless the last report is recent. `share` is the share of the work that is done, from 0 to 1.
  /// `bytes` returns the number of final bytes of the output.
  func tell(_ share: Double, bytes: () -> Int64 = { 0 }) {
    var clock = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &clock)
    let now = Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9
    let isTime = now - last > 0.1
    guard isTime || !hasBytes else { return }
    let count = bytes()
    // Readers wait for the first bytes, which are therefore reported at once.
    guard isTime || count > 0 else { return }
    (last, hasBytes) = (now, hasBytes || count > 0)
    output.tell(bytes: count, thousandths: Int64(max(0, min(1, share)) * 1000))
  }
}
