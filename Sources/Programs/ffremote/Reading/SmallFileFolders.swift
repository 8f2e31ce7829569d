import Bytes
import Locks
import ServerAnswers
import Synchronization
import Text
import Threads
import Tree

/// The directories of a server whose small files have been read, and the requests for several of them.
final class SmallFileFolders: Sendable {
  private let folders = LRUCache<[UInt8], SmallFiles>(capacity: 64)
  private let habit = UnfairLock(Habit())
  /// Whether the server is of a version without `/api/entries`.
  private let isUnsupported = Atomic<Bool>(false)

  /// The order in which a directory has been read, and the time of that, in nanoseconds.
  private struct Habit: Sendable {
    var order: SmallFiles.Order?
    var time: UInt64 = 0
  }

  /// The time for which programs are expected to read other directories in the same order, in nanoseconds.
  private static let habitTime: UInt64 = 2_000_000_000
  /// The maximum size of a response, in bytes.
  private static let largestResponse = 4 << 20

  /// Returns the small files of a directory. Returns `nil` if the server sends the bytes of one at a time.
  func files(in path: [UInt8]) -> SmallFiles? {
    if isUnsupported.load(ordering: .relaxed) { return nil }
    if let known = folders[path] { return known }
    let new = SmallFiles()
    folders.insert(new, for: path, cost: 1)
    return new
  }

  /// The order in which a directory has just been read. Nil if that is long ago.
  var readingOrder: SmallFiles.Order? {
    let now = HTTPClient.now
    return habit.withLock { now < $0.time + Self.habitTime ? $0.order : nil }
  }

  /// Records the order in which a directory is being read.
  func note(reading order: SmallFiles.Order) {
    let now = HTTPClient.now
    habit.withLock { $0 = Habit(order: order, time: now) }
  }

  /// Requests the attributes and bytes of entries of a directory. `fetch` ends when they have been recorded.
  func request(_ names: [FileName], of folder: FolderState, _ fetch: SharedFetch<Void>) {
    let server = folder.server
    let exchange = HTTPExchange(
      "/api/entries?path=\(Percent.encoded(folder.path, keepingSlash: true))&bytes=\(SmallFiles.largest)"
        + names.map { "&name=\(Percent.encoded($0.bytes))" }.joined())
    let wanted = Set(names)
    let call = RepeatedRequest(server, exchange, limit: Self.largestResponse) { [self, server, folder] result in
      server.help { [self] in
        defer { fetch.finish(.success(())) }
        guard let answer = try? result.get() else { return }
        let isUnknown = ServerAnswer.sentence(answer.body)?.hasPrefix("unknown API call") ?? false
        if answer.head.status == 404, isUnknown { isUnsupported.store(true, ordering: .relaxed) }
        guard answer.isSuccess, let items = try? ServerAnswer.listing(answer.body) else { return }
        for item in items where item.content != nil && wanted.contains(item.name) {
          server.keepContent(of: item, at: folder.path(of: item.name), askedAt: fetch.begun)
        }
      }
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
  }
}
