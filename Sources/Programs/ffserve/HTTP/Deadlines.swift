import NIOCore

/// The connections of an event loop, each of which is closed at its deadline.
///
/// All are checked once a second. A timer for each would cost more than a request, and memory for thousands of timers.
final class Deadlines: Sendable {
  // Used only by the event loop.
  private nonisolated(unsafe) var connections: [Connection] = []

  private static let period = TimeAmount.seconds(1)

  init(on loop: any EventLoop) {
    loop.scheduleRepeatedTask(initialDelay: Self.period, delay: Self.period) { [weak self] _ in self?.check() }
  }

  func add(_ connection: Connection) {
    connection.place = unsafe connections.count
    unsafe connections.append(connection)
  }

  func remove(_ connection: Connection) {
    let place = connection.place
    guard unsafe place < connections.count, unsafe connections[place] === connection else { return }
    let last = unsafe connections.removeLast()
    if last === connection { return }
    unsafe connections[place] = last
    last.place = place
  }

  /// Closes the connections whose deadline has passed. O(n).
  private func check() {
    let now = NIODeadline.now()
    // Closing a connection removes it from the list.
    for connection in unsafe connections { connection.checkDeadline(now) }
  }
}
