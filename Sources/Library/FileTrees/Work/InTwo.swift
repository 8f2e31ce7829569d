internal import Bytes
internal import Synchronization
internal import Threads

/// Returns the elements that `body` makes from a range. If another thread is free, it makes the second half. Blocks.
func inTwo<Element: Sendable>(
  _ count: Int, on bench: ThreadPool, _ body: @escaping @Sendable (Range<Int>) throws(Fault) -> [Element]
) throws(Fault) -> [Element] {
  let half = SecondHalf<Element>()
  let middle = count / 2
  bench.submit { [interest = CancellationToken.current] in
    guard half.claim() else { return }
    let work = { half.made.update { $0 = half.result { () throws(Fault) in try body(middle..<count) } } }
    if let interest { interest.run(work) } else { work() }
  }
  let first = half.result { () throws(Fault) in try body(0..<middle) }
  // A thread that has not started is not waited for, because all threads could be waiting here.
  if half.claim() { return try first.get() + body(middle..<count) }
  let second = try half.made.wait { $0 }
  return try first.get() + second.get()
}

/// The second half of the elements, which the first thread to claim it makes.
private final class SecondHalf<Element: Sendable>: Sendable {
  private let taken = Atomic<Bool>(false)
  let made = Monitor<Result<[Element], Fault>?>(nil)

  /// Returns whether the caller has to make the second half.
  func claim() -> Bool { !taken.exchange(true, ordering: .relaxed) }

  func result(_ body: () throws(Fault) -> [Element]) -> Result<[Element], Fault> {
    do throws(Fault) { return .success(try body()) } catch { return .failure(error) }
  }
}
