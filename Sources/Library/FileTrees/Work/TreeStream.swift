internal import Bytes
internal import SystemPackage
internal import Threads

/// Produces the elements of a stream in batches. One job uses it at a time, and passes it on to the next.
protocol Producer<Element>: Sendable {
  associatedtype Element: Sendable

  /// Returns the next elements, at least one. Returns `nil` at the end. Blocks.
  mutating func next() throws(Fault) -> [Element]?
}

/// A sequence of elements that are read from a tree on demand.
///
/// The next batch is read ahead on a thread of the tree, never more than one. Releasing an iterator or cancelling its
/// task stops the work. Each iteration reads again from the beginning.
public struct TreeStream<Element: Sendable>: AsyncSequence, Sendable {
  /// The error of reading the tree.
  public typealias Failure = FileTreeError

  private let bench: ThreadPool
  private let path: FilePath
  private let producer: any Producer<Element>
  private let explain: @Sendable (FileTreeError) -> FileTreeError

  init(
    _ producer: some Producer<Element>, of path: FilePath, on bench: ThreadPool,
    explain: @escaping @Sendable (FileTreeError) -> FileTreeError = { $0 }
  ) {
    self.bench = bench
    self.path = path
    self.producer = producer
    self.explain = explain
  }

  /// Returns an iterator that starts with the first element. Nothing is read before that is requested.
  public func makeAsyncIterator() -> Iterator { Iterator(bench, path, producer, explain) }

  /// An iterator over the elements, for one task.
  public struct Iterator: AsyncIteratorProtocol {
    private typealias Batch = (elements: [Element]?, producer: any Producer<Element>)

    /// Stops reading ahead when the iterator is released.
    private final class Ahead {
      let turn: QueuedCall<Batch>

      init(_ turn: QueuedCall<Batch>) { self.turn = turn }

      deinit { turn.cancel() }
    }

    private let bench: ThreadPool
    private let path: FilePath
    private let explain: @Sendable (FileTreeError) -> FileTreeError
    /// The producer. `nil` at the end.
    private var producer: (any Producer<Element>)?
    private var ahead: Ahead?
    private var batch: [Element] = []
    private var place = 0

    fileprivate init(
      _ bench: ThreadPool, _ path: FilePath, _ producer: any Producer<Element>,
      _ explain: @escaping @Sendable (FileTreeError) -> FileTreeError
    ) {
      self.bench = bench
      self.path = path
      self.producer = producer
      self.explain = explain
    }

    /// Returns the next element. Returns `nil` at the end, and after an error. Suspends only between batches.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(FileTreeError) -> Element? {
      if place == batch.count, try await !refill(actor) { return nil }
      defer { place += 1 }
      return batch[place]
    }

    /// Returns the next element. Returns `nil` at the end, and after an error.
    public mutating func next() async throws(FileTreeError) -> Element? { try await next(isolation: nil) }

    private mutating func refill(_ actor: isolated (any Actor)?) async throws(FileTreeError) -> Bool {
      if ahead == nil { start() }
      guard let turn = ahead?.turn else { return false }
      do throws(Fault) {
        let (elements, next) = try await turn.value(isolation: actor)
        producer = elements == nil ? nil : next
        ahead = nil
        (batch, place) = (elements ?? [], 0)
        start()
        return elements != nil
      } catch {
        (ahead, producer, batch, place) = (nil, nil, [], 0)
        throw explain(FileTreeError(error, path))
      }
    }

    private mutating func start() {
      guard let producer else { return }
      ahead = Ahead(
        QueuedCall(on: bench) { () throws(Fault) in
          var producer = producer
          let elements = try producer.next()
          return (elements, producer)
        })
    }
  }
}

@available(*, unavailable)
extension TreeStream.Iterator: Sendable {}
