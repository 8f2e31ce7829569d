internal import Glibc
internal import Synchronization

/// An open descriptor and its owner, in one word that is changed without a lock.
final class DescriptorSlot: Sendable {
  /// The owner's number from bit 21 on, whether it was used since the hand came by, and in the lower 20 bits how many use
  /// it now; 0 if the slot is free. While nobody else may touch it the owner is `nobody`.
  private let state = Atomic<UInt64>(0)
  private let descriptor = Atomic<Int32>(-1)

  private static let wasUsed: UInt64 = 1 << 20
  private static let users = wasUsed - 1
  private static let ownerShift: UInt64 = 21
  private static let nobody = (UInt64.max >> ownerShift) << ownerShift

  var isIdle: Bool {
    let state = state.load(ordering: .relaxed)
    return state != 0 && state != Self.nobody && state & Self.users == 0
  }

  func isOwned(by owner: UInt64) -> Bool { state.load(ordering: .relaxed) >> Self.ownerShift == owner }

  /// The owner's descriptor, which stays open until it is given back; nil if it is another's.
  func borrow(for owner: UInt64) -> Int32? {
    var known = state.load(ordering: .relaxed)
    while known >> Self.ownerShift == owner {
      let (isDone, found) = state.weakCompareExchange(
        expected: known, desired: (known + 1) | Self.wasUsed, ordering: .acquiring)
      if isDone { return descriptor.load(ordering: .relaxed) }
      known = found
    }
    return nil
  }

  func giveBack() { state.subtract(1, ordering: .releasing) }

  /// Closes the descriptor, if it is idle and, where an owner is given, that one's. Returns whether it was.
  @discardableResult func empty(of owner: UInt64? = nil) -> Bool {
    guard let before = claim(sparingUsed: false, owner) else { return false }
    state.store(0, ordering: .releasing)
    if before >= 0 { _ = close(before) }
    return before >= 0
  }

  /// Puts in a descriptor that so many use already, unless the slot is in use or was since the last time. Returns the
  /// descriptor that was in it, for the caller to close, −1 if the slot was free, nil if nothing was put in.
  func fill(_ new: Int32, for owner: UInt64, users: Int) -> Int32? {
    guard let before = claim(sparingUsed: true, nil) else { return nil }
    descriptor.store(new, ordering: .relaxed)
    state.store(owner << Self.ownerShift | Self.wasUsed | UInt64(users), ordering: .releasing)
    return before
  }

  /// Makes an idle slot nobody's; returns the descriptor that was in it, −1 if it was free.
  private func claim(sparingUsed: Bool, _ owner: UInt64?) -> Int32? {
    var known = state.load(ordering: .relaxed)
    while known & Self.users == 0, known != Self.nobody, owner == nil || known >> Self.ownerShift == owner {
      let isSpared = sparingUsed && known & Self.wasUsed != 0
      let (isDone, found) = state.weakCompareExchange(
        expected: known, desired: isSpared ? known & ~Self.wasUsed : Self.nobody, ordering: .acquiring)
      if isDone { return isSpared ? nil : descriptor.exchange(-1, ordering: .relaxed) }
      known = found
    }
    return nil
  }
}
