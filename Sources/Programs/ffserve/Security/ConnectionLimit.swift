import Locks
import NIOCore

/// The event that makes a connection end after the response in progress.
struct Draining: Sendable {}

/// The open connections, whose number is limited. When few are left, a client with half of them gets no more.
final class ConnectionLimit: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var networks: [Network: Int] = [:]
    var isEnding = false
    var whenNone: (@Sendable () -> Void)?
  }

  private let most: Int
  private let state = UnfairLock(State())

  init(_ most: Int) { self.most = most }

  var count: Int { state.withLock { $0.open.count } }

  /// Whether so much of the limit is in use that idle connections should be closed earlier.
  var isNear: Bool { count > most / 4 * 3 }

  /// Counts a connection. Returns `false` if there are too many, or the server is ending.
  ///
  /// - Parameter network: the client's network. Nil if it can be any.
  func enter(_ channel: any Channel, of network: Network?) -> Bool {
    state.withLock { state in
      let own = network.flatMap { state.networks[$0] } ?? 0
      guard !state.isEnding, state.open.count < most, state.open.count < most / 4 * 3 || own < most / 2 else {
        return false
      }
      if let network { state.networks[network] = own + 1 }
      state.open[ObjectIdentifier(channel)] = channel
      return true
    }
  }

  func leave(_ channel: any Channel, of network: Network?) {
    let body = state.withLock { state in
      if let network {
        let own = (state.networks[network] ?? 1) - 1
        state.networks[network] = own > 0 ? own : nil
      }
      state.open[ObjectIdentifier(channel)] = nil
      return state.open.isEmpty ? state.whenNone.take() : nil
    }
    body?()
  }

  /// Closes each connection after its response, and idle ones at once. Calls `body` when none is left.
  func drain(_ body: @escaping @Sendable () -> Void) {
    let open = state.withLock { state in
      state.isEnding = true
      if !state.open.isEmpty { state.whenNone = body }
      return Array(state.open.values)
    }
    if open.isEmpty { return body() }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(Draining()) }
  }
}
