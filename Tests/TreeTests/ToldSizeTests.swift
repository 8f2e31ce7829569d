import Testing

@testable import Tree

/// A reference to one: `#expect` takes only what can be copied.
private final class Told {
  private let size = KernelSizeState()

  func noteEstimate() { size.noteEstimate() }
  func noteExact(for thread: Int32) { size.noteExact(for: thread) }
  func noteInvalidation() { size.noteInvalidation() }
  func noteRefresh() { size.noteRefresh() }
  func isSettled(byOpeningIn thread: Int32) -> Bool { size.isSettled(byOpeningIn: thread) }
}

@Suite struct ToldSizeTests {
  @Test func noRefreshIsNeededWithoutEstimate() {
    let told = Told()
    #expect(told.isSettled(byOpeningIn: 7) && told.isSettled(byOpeningIn: 0))
    told.noteExact(for: 7)
    #expect(told.isSettled(byOpeningIn: 8))
  }

  @Test func reportedEstimateRequiresRefreshOnOpen() {
    let told = Told()
    told.noteEstimate()
    #expect(![0, 7, -1].contains { told.isSettled(byOpeningIn: $0) })
  }

  @Test func openByInformedThreadSettlesSizeForAll() {
    let told = Told()
    told.noteEstimate()
    told.noteExact(for: 7)
    // The reply to 7 may still be on its way.
    #expect(!told.isSettled(byOpeningIn: 8) && !told.isSettled(byOpeningIn: 0))
    #expect(told.isSettled(byOpeningIn: 7))
    #expect(told.isSettled(byOpeningIn: 8) && told.isSettled(byOpeningIn: 0))
  }

  @Test func onlyLastInformedThreadSettlesSize() {
    let told = Told()
    told.noteEstimate()
    told.noteExact(for: 7)
    told.noteExact(for: 8)
    #expect(!told.isSettled(byOpeningIn: 7))
    #expect(told.isSettled(byOpeningIn: 8))
  }

  @Test func newEstimateRequiresAnotherRefresh() {
    let told = Told()
    told.noteEstimate()
    told.noteExact(for: 7)
    told.noteEstimate()
    #expect(!told.isSettled(byOpeningIn: 7))
    told.noteExact(for: 7)
    #expect(told.isSettled(byOpeningIn: 7))
    told.noteEstimate()
    #expect(!told.isSettled(byOpeningIn: 7))
  }

  /// The kernel does not say for whom it asks when it writes back or reads ahead.
  @Test(arguments: [Int32(0), -1, .min]) func unknownThreadDoesNotSettleSize(_ unknown: Int32) {
    let told = Told()
    told.noteEstimate()
    told.noteExact(for: 7)
    told.noteExact(for: unknown)
    #expect(!told.isSettled(byOpeningIn: unknown) && !told.isSettled(byOpeningIn: 0))
    #expect(!told.isSettled(byOpeningIn: 7))
    // No thread looks like an invalidation.
    told.noteExact(for: 7)
    #expect(told.isSettled(byOpeningIn: 7))
  }

  @Test func repliesDuringInvalidationDoNotSettleSize() {
    let told = Told()
    told.noteEstimate()
    told.noteExact(for: 7)
    told.noteInvalidation()
    #expect(!told.isSettled(byOpeningIn: 7))
    told.noteExact(for: 7)
    #expect(!told.isSettled(byOpeningIn: 7) && !told.isSettled(byOpeningIn: -1))
    told.noteEstimate()
    told.noteExact(for: 7)
    #expect(!told.isSettled(byOpeningIn: 7))
    told.noteRefresh()
    #expect(told.isSettled(byOpeningIn: 7) && told.isSettled(byOpeningIn: 0))
  }

  @Test func refreshEndsAnInvalidation() {
    let told = Told()
    told.noteEstimate()
    told.noteInvalidation()
    told.noteRefresh()
    told.noteEstimate()
    #expect(!told.isSettled(byOpeningIn: 7))
    told.noteExact(for: 7)
    #expect(told.isSettled(byOpeningIn: 7))
  }

  @Test func invalidationOfExactSizeNeedsNoRefresh() {
    let told = Told()
    told.noteInvalidation()
    #expect(told.isSettled(byOpeningIn: 7))
  }
}
