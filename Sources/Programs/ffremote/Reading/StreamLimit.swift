import Locks

/// A limit on the number of concurrent streams, each of which uses a connection and memory.
final class StreamLimit: Sendable {
  private struct Reader: Sendable { weak var ahead: RemoteReadAhead? }

  private let readers = UnfairLock<[Reader]>([])
  private static let most = 16

  /// Counts a stream. If the limit is reached, closes the one that was not read from for the longest time.
  func enter(_ ahead: RemoteReadAhead) {
    let others = readers.withLock { readers -> [RemoteReadAhead] in
      readers.removeAll { $0.ahead == nil || $0.ahead === ahead }
      let others = readers.compactMap(\.ahead)
      readers.append(Reader(ahead: ahead))
      return others
    }
    let reading = others.filter(\.isUnderWay)
    guard reading.count >= Self.most, let idlest = reading.min(by: { $0.usedAt < $1.usedAt }) else { return }
    idlest.close()
  }
}
