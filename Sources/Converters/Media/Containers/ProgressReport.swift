internal import Glibc
internal import WorkerKit

/// Tells how far a job is, some times a second.
final class ProgressReport {
  private let output: JobOutput
  private var last = 0.0
  private var hasBytes = false

  init(_ output: JobOutput) { self.output = output }

  /// `share`: how much of the work is done, from 0 to 1. `bytes` gives how many bytes of the output will not change.
  func tell(_ share: Double, bytes: () -> Int64 = { 0 }) {
    var clock = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &clock)
    let now = Double(clock.tv_sec) + Double(clock.tv_nsec) / 1e9
    let isTime = now - last > 0.1
    guard isTime || !hasBytes else { return }
    let count = bytes()
    // The first bytes are waited for, and told of at once.
    guard isTime || count > 0 else { return }
    (last, hasBytes) = (now, hasBytes || count > 0)
    output.tell(bytes: count, thousandths: Int64(max(0, min(1, share)) * 1000))
  }
}
