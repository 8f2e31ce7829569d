import Synchronization

/// Work that waits for a thread: clients take turns, so that who asks for much waits longer, and others do not.
final class FairQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    /// Of each client that has any, the next one last.
    var jobs: [Network: [Job]] = [:]
    /// Added meanwhile, the next one first.
    var added: [Network: [Job]] = [:]
    /// Those whose turn it is, from `first` on.
    var turns: [Network] = []
    var first = 0
  }

  private let state = Mutex(State())

  func add(_ job: @escaping Job, for network: Network) {
    state.withLock { state in
      if state.jobs[network] == nil, state.added[network] == nil { state.turns.append(network) }
      state.added[network, default: []].append(job)
    }
  }

  /// Takes out the next one; nil if there is none. Amortised O(1).
  func next() -> Job? {
    state.withLock { state in
      guard state.first < state.turns.count else { return nil }
      let network = state.turns[state.first]
      state.first += 1
      if state.first > 1024, state.first * 2 > state.turns.count {
        state.turns.removeFirst(state.first)
        state.first = 0
      }
      if state.jobs[network] == nil { state.jobs[network] = state.added.removeValue(forKey: network)?.reversed() }
      let job = state.jobs[network]?.popLast()
      if state.jobs[network]?.isEmpty ?? false { state.jobs[network] = nil }
      if state.jobs[network] != nil || state.added[network] != nil { state.turns.append(network) }
      return job
    }
  }
}
