import NIOCore
import Synchronization

/// Tells a connection to end with the answer that is under way.
struct Draining: Sendable {}

/// The open connections, of which there may be so many at a time. Who has half of them gets no more when few are left.
final class ConnectionLimit: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var networks: [Network: Int] = [:]
    var isEnding = false
    var whenNone: (@Sendable () -> Void)?
  }

  private let most: Int
  private let state = Mutex(State())

  init(_ most: Int) { self.most = most }

  var count: Int { state.withLock { $0.open.count } }

  /// Whether so many are open that those that wait for nothing are to make room.
  var isNear: Bool { count > most / 4 * 3 }

  /// Counts one; false if there are too many, or the server is ending.
  ///
  /// - Parameter network: where it comes from; nil if it may be from anywhere.
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

  /// Has each connection closed once its answer has been sent, and those without one at once; calls `body` when there is none
  /// left.
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
