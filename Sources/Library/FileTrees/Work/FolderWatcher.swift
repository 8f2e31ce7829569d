internal import Bytes
internal import Files
internal import Locks
internal import Threads

/// Distributes the notifications of watched directories. The process has one inotify instance and one thread for this
/// while any directory is watched.
final class FolderWatcher: Sendable {
  static let shared = FolderWatcher()

  private struct Reference: Sendable {
    weak var queue: ChangeQueue?
  }

  private struct State {
    /// The notification queue. `nil` while no directory is watched.
    var notices: NoticeQueue?
    /// The queues by the number of the watch. Several queues of one directory share a number.
    var queues: [Int32: [ObjectIdentifier: Reference]] = [:]
  }

  private let state = UnfairLock(State())
  private let worker = ThreadPool(atMost: 1)

  /// Starts to pass the notifications of an open directory to a queue. Returns the number of the watch.
  func add(_ queue: ChangeQueue, _ folder: Int32) throws(Fault) -> Int32 {
    let added = state.withLock { state -> Result<(number: Int32, mustStart: NoticeQueue?), Fault> in
      do throws(Fault) {
        let isFirst = state.notices == nil
        let notices = if let notices = state.notices { notices } else { try NoticeQueue() }
        let number = try notices.watch(folder)
        state.notices = notices
        state.queues[number, default: [:]][ObjectIdentifier(queue)] = Reference(queue: queue)
        return .success((number, isFirst ? notices : nil))
      } catch { return .failure(error) }
    }
    let (number, mustStart) = try added.get()
    if let mustStart { worker.submit { [self] in run(mustStart) } }
    return number
  }

  /// Stops passing notifications to a queue.
  func remove(_ queue: ObjectIdentifier, from numbers: Set<Int32>) {
    state.withLock { state in
      for number in numbers where state.queues[number] != nil {
        state.queues[number]?[queue] = nil
        guard state.queues[number]?.isEmpty ?? false else { continue }
        state.queues[number] = nil
        state.notices?.end(number)
      }
      guard state.queues.isEmpty else { return }
      state.notices?.wake()
      state.notices = nil
    }
  }

  /// Distributes notifications until the instance is replaced.
  private func run(_ notices: NoticeQueue) {
    while state.withLock({ $0.notices === notices }) {
      let new = notices.wait()
      // Queues are called, and possibly released, outside the lock.
      let told = state.withLock { state -> [(ChangeQueue, [FolderNotice])] in
        guard state.notices === notices else { return [] }
        var told: [ObjectIdentifier: (ChangeQueue, [FolderNotice])] = [:]
        for notice in new {
          let concerned =
            notice.isLost
            ? state.queues.values.flatMap(\.values) : state.queues[notice.number].map { Array($0.values) } ?? []
          for queue in concerned.compactMap(\.queue) {
            told[ObjectIdentifier(queue), default: (queue, [])].1.append(notice)
          }
          if notice.events.contains(.ignored) { state.queues[notice.number] = nil }
        }
        return Array(told.values)
      }
      for (queue, notices) in told { queue.take(notices) }
    }
  }
}
