import Locks

/// A job queue that serves clients round-robin, so that only those with many jobs wait longer.
final class FairQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    /// The jobs of each client, the next one last.
    var jobs: [Network: [Job]] = [:]
    /// The jobs added since then, the next one first.
    var added: [Network: [Job]] = [:]
    /// The clients in order of service, from `first` on.
    var turns: [Network] = []
    var first = 0
  }

  private let state = UnfairLock(State())

  func add(_ job: @escaping Job, for network: Network) {
    state.withLock { state in
      if state.jobs[network] == nil, state.added[network] == nil { state.turns.append(network) }
      state.added[network, default: []].append(job)
    }
  }

  /// Removes and returns the next job. Returns `nil` if there is none. Amortised O(1).
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
