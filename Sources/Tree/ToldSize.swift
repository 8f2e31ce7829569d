internal import Synchronization

/// What the kernel has been told of a file's size, which is an estimate until the file has been made.
///
/// Once a thread that was told the exact size opens the file, the kernel has processed that reply, and reads with that size.
/// Until then the size has to be refreshed before `open` returns: see `Tree.OpenFile.changesAttributes`.
struct ToldSize: ~Copyable {
  /// Whether an estimate was told, and nothing has made the kernel ask for the exact size since.
  private let isEstimate = Atomic<Bool>(false)
  /// The thread that was told the exact size last; 0 if there is none.
  private let exactFor = Atomic<Int32>(0)

  /// The kernel drops replies that are on their way while its attributes are invalidated, so that no reply settles anything
  /// until a refresh has.
  private static let invalidated: Int32 = -1

  var hasEstimate: Bool { isEstimate.load(ordering: .relaxed) }

  /// Before an estimate is replied.
  func noteEstimate() {
    isEstimate.store(true, ordering: .relaxed)
    replace(with: 0)
  }

  /// Before the exact size is replied to `thread`, which is 0 if the kernel does not tell it.
  func noteExact(for thread: Int32) {
    if isEstimate.load(ordering: .relaxed) { replace(with: max(0, thread)) }
  }

  /// Before the kernel's attributes are invalidated.
  func noteInvalidation() { exactFor.store(Self.invalidated, ordering: .relaxed) }

  /// After the kernel has asked again and was told the exact size.
  func noteRefresh() {
    isEstimate.store(false, ordering: .relaxed)
    exactFor.store(0, ordering: .relaxed)
  }

  /// Whether the kernel has the exact size when `thread` opens the file. If it has, so it has for all others from then on.
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
