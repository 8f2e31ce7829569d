internal import CPosix
internal import Glibc
internal import Synchronization

/// An open descriptor and its owner, in one word that is changed without a lock.
final class DescriptorSlot: Sendable {
  /// The owner's number from bit 21 on, a flag for use since the hand last passed, and the number of current
  /// users in the lower 20 bits. 0 if the slot is free. The owner is `nobody` while one thread has exclusive access.
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

  /// Returns the owner's descriptor, which stays open until it is given back. Returns `nil` if the slot has another
  /// owner.
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

  /// Closes the descriptor if it is idle and, unless `owner` is nil, belongs to `owner`. Returns whether it was closed.
  @discardableResult func empty(of owner: UInt64? = nil) -> Bool {
    guard let before = claim(sparingUsed: false, owner) else { return false }
    state.store(0, ordering: .releasing)
    if before >= 0 { _ = close(before) }
    return before >= 0
  }

  /// Closes the descriptor if it is idle, only the start of paths (O_PATH), and its directory was removed.
  func emptyIfRemovedFolder() {
    let known = state.load(ordering: .relaxed)
    guard isIdle, let descriptor = borrow(for: known >> Self.ownerShift) else { return }
    let isRemoved = fcntl(descriptor, F_GETFL) & ffmount_O_PATH != 0 && Self.isRemoved(descriptor)
    giveBack()
    if isRemoved { empty(of: known >> Self.ownerShift) }
  }

  /// Returns whether the kernel knows that the file of a descriptor was removed. Does not ask its file system, which
  /// may not respond.
  private static func isRemoved(_ descriptor: Int32) -> Bool {
    let mark = Array(" (deleted)".utf8)
    return unsafe withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
      let path = unsafe buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
      let count = unsafe readlink("/proc/self/fd/\(descriptor)", path, buffer.count)
      return unsafe buffer.prefix(max(0, count)).suffix(mark.count).elementsEqual(mark)
    }
  }

  /// Stores a descriptor with its number of current users, unless the slot is in use or was used since the last
  /// attempt.
  ///
  /// Returns the previous descriptor, which the caller must close, or −1 if the slot was free. Returns `nil` if nothing
  /// was stored.
  func fill(_ new: Int32, for owner: UInt64, users: Int) -> Int32? {
    guard let before = claim(sparingUsed: true, nil) else { return nil }
    descriptor.store(new, ordering: .relaxed)
    state.store(owner << Self.ownerShift | Self.wasUsed | UInt64(users), ordering: .releasing)
    return before
  }

  /// Takes exclusive access to an idle slot. Returns its descriptor, or −1 if it was free. Returns `nil` if the slot is
  /// not available.
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
