import Bytes
import Synchronization
import Testing

@Suite struct PendingTests {
  private final class Count: Sendable {
    private let value = Mutex(0)
    var now: Int { value.withLock { $0 } }
    func up() { value.withLock { $0 += 1 } }
  }

  @Test func everyWaiterIsNotifiedOnce() {
    let (told, abandoned) = (Count(), Count())
    let pending = SharedOperation { abandoned.up() }
    _ = pending.whenDone { told.up() }
    let token = pending.whenDone { told.up() }
    pending.finish()
    #expect(told.now == 2)
    // Once finished, it stays finished.
    pending.finish()
    pending.cancel(token)
    _ = pending.whenDone { told.up() }
    #expect(told.now == 3 && abandoned.now == 0)
  }

  @Test func onlyLastCancellationAbandonsOperation() {
    let (told, abandoned) = (Count(), Count())
    let pending = SharedOperation { abandoned.up() }
    let tokens = (0..<3).map { _ in pending.whenDone { told.up() } }
    pending.cancel(tokens[0])
    pending.cancel(tokens[0])
    pending.cancel(tokens[2])
    #expect(abandoned.now == 0)
    pending.cancel(tokens[1])
    #expect(abandoned.now == 1 && told.now == 0)
  }

  @Test func operationIsCancelledByCallerThatDoesNotWaitForIt() {
    let (told, abandoned) = (Count(), Count())
    let pending = SharedOperation { abandoned.up() }
    let token = pending.whenDone { told.up() }
    pending.cancelIfUnused()
    #expect(abandoned.now == 0)
    pending.cancel(token)
    #expect(abandoned.now == 1)
    let unused = SharedOperation { abandoned.up() }
    unused.cancelIfUnused()
    #expect(abandoned.now == 2)
    let finished = SharedOperation { abandoned.up() }
    finished.finish()
    finished.cancelIfUnused()
    #expect(abandoned.now == 2 && told.now == 0)
  }

  @Test func operationRetainsItsResult() {
    final class Product: Sendable {}
    weak var product: Product?
    do {
      let pending = SharedOperation {}
      do {
        let made = Product()
        product = made
        pending.finish(with: made)
      }
      #expect(product != nil)
      withExtendedLifetime(pending) {}
    }
    #expect(product == nil)
  }

  @Test func onlyPendingAndWouldBlockFaultsAreDelays() {
    #expect(Fault.later.isDelay && Fault(.pending(SharedOperation {})).isDelay)
    #expect(![Fault(.damaged), Fault(.changed), Fault(.system(5)), Fault(.limit)].contains { $0.isDelay })
  }
}
