internal import Synchronization

/// The state of a derived file's size in the kernel's cache. The size is an estimate until the file has been generated.
///
/// If the thread that received the exact size opens the file, the kernel has processed the reply and reads with that
/// size. Otherwise, the size must be refreshed before `open` returns: see `Tree.OpenFile.changesAttributes`.
struct KernelSizeState: ~Copyable {
  /// Whether the kernel has received an estimate that no exact size is known to have replaced.
  private let isEstimate = Atomic<Bool>(false)
  /// The thread whose request was last answered with the exact size. 0 if none.
  private let exactFor = Atomic<Int32>(0)

  /// The value of `exactFor` during an invalidation. The kernel drops replies that arrive while its attributes are
  /// invalidated, so only a refresh settles the size.
  private static let invalidated: Int32 = -1

  var hasEstimate: Bool { isEstimate.load(ordering: .relaxed) }

  /// Records an estimate. Must be called before the reply.
  func noteEstimate() {
    isEstimate.store(true, ordering: .relaxed)
    replace(with: 0)
  }

  /// Records the exact size. Must be called before the reply to `thread`, which is 0 if the kernel does not report it.
  func noteExact(for thread: Int32) {
    if isEstimate.load(ordering: .relaxed) { replace(with: max(0, thread)) }
  }

  /// Records an invalidation. Must be called before the kernel's attributes are invalidated.
  func noteInvalidation() { exactFor.store(Self.invalidated, ordering: .relaxed) }

  /// Records a refresh. Must be called after the kernel has requested the size again and received the exact one.
  func noteRefresh() {
    isEstimate.store(false, ordering: .relaxed)
    exactFor.store(0, ordering: .relaxed)
  }

  /// Returns whether the kernel has the exact size when `thread` opens the file. It then has it for all later opens,
  /// too.
  func isSettled(byOpeningIn thread: Int32) -> Bool {
    if !isEstimate.load(ordering: .relaxed) { return true }
    guard thread > 0, exactFor.load(ordering: .relaxed) == thread else { return false }
    isEstimate.store(false, ordering: .relaxed)
    return true
  }

  private func replace(with thread: Int32) {
    var known = exactFor.load(ordering: .relaxed)
    while known != Self.invalidated {
      let (isDone, found) = exactFor.weakCompareExchange(
        expected: known, desired: thread, ordering: .relaxed)
      if isDone { return }
      known = found
    }
  }
}
