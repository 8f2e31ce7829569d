internal import Glibc
internal import Locks
internal import Threads

/// The callers of long-running requests that have received a signal and continue to wait.
///
/// The kernel reports only the first signal during a request, and a process that is killed afterwards waits for the reply
/// before it ends. These callers are therefore checked regularly.
final class SignalledReaders: Sendable {
  private struct WeakReader: Sendable {
    weak var reader: WaitingReader?
  }

  private let readers = UnfairLock<[WeakReader]>([])
  private let worker = ThreadPool(atMost: 1)
  private let ending: Ending

  /// The interval of the checks, in microseconds.
  private static let round: UInt32 = 250_000

  init(_ ending: Ending) { self.ending = ending }

  /// Checks a caller until it gets its reply.
  func add(_ reader: WaitingReader) {
    let isFirst = readers.withLock { readers in
      readers.append(WeakReader(reader: reader))
      return readers.count == 1
    }
    if isFirst { worker.submit { [self] in run() } }
  }

  func stop() { worker.stop() }

  private func run() {
    var isEmpty = false
    while !isEmpty, !ending.hasCome {
      _ = usleep(Self.round)
      var ended: Set<ObjectIdentifier> = []
      for case let reader? in readers.withLock({ $0.map(\.reader) }) where !reader.endIfKilled() {
        ended.insert(ObjectIdentifier(reader))
      }
      isEmpty = readers.withLock { readers in
        readers.removeAll { $0.reader.map { ended.contains(ObjectIdentifier($0)) } ?? true }
        return readers.isEmpty
      }
    }
  }
}
