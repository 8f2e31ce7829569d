import Synchronization

/// How many connections there may be at a time. Who has half of them gets no more when few are left.
final class ConnectionLimit: Sendable {
  private let most: Int
  private let open = Mutex((count: 0, networks: [Network: Int]()))

  init(_ most: Int) { self.most = most }

  var count: Int { open.withLock { $0.count } }

  /// Whether so many are open that those that wait for nothing are to make room.
  var isNear: Bool { count > most / 4 * 3 }

  /// Counts one; false if there are too many.
  func enter(_ network: Network) -> Bool {
    open.withLock { open in
      let own = open.networks[network] ?? 0
      guard open.count < most, open.count < most / 4 * 3 || own < most / 2 else { return false }
      open.networks[network] = own + 1
      open.count += 1
      return true
    }
  }

  func leave(_ network: Network) {
    open.withLock { open in
      open.count -= 1
      let own = (open.networks[network] ?? 1) - 1
      open.networks[network] = own > 0 ? own : nil
    }
  }
}
