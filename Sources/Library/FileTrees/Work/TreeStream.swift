internal import Bytes
internal import SystemPackage
internal import Threads

/// Makes the elements of a stream, some at a time. Used by one job at a time, and handed from each to the next.
protocol Producer<Element>: Sendable {
  associatedtype Element: Sendable

  /// The next elements, at least one; nil at the end. Blocks.
  mutating func next() throws(Fault) -> [Element]?
}

/// Elements that are read from a tree as they are asked for.
///
/// What is asked for next is read ahead on a thread of the tree's own: one batch and no more, whatever the speed of the
/// reader. An iterator that is dropped, or whose task is cancelled, stops the work. Each iteration reads anew.
public struct TreeStream<Element: Sendable>: AsyncSequence, Sendable {
  /// What reading the tree throws.
  public typealias Failure = FileTreeError

  private let bench: Workers
  private let path: FilePath
  private let producer: any Producer<Element>
  private let explain: @Sendable (FileTreeError) -> FileTreeError

  init(
    _ producer: some Producer<Element>, of path: FilePath, on bench: Workers,
    explain: @escaping @Sendable (FileTreeError) -> FileTreeError = { $0 }
  ) {
    self.bench = bench
    self.path = path
    self.producer = producer
    self.explain = explain
  }

  /// Starts at the beginning. Nothing is read before the first element is asked for.
  public func makeAsyncIterator() -> Iterator { Iterator(bench, path, producer, explain) }

  /// Elements in order, by one reader.
  public struct Iterator: AsyncIteratorProtocol {
    private typealias Batch = (elements: [Element]?, producer: any Producer<Element>)

    /// Stops what is read ahead when the iterator is gone.
    private final class Ahead {
      let turn: Turn<Batch>

      init(_ turn: Turn<Batch>) { self.turn = turn }

      deinit { turn.cancel() }
    }

    private let bench: Workers
    private let path: FilePath
    private let explain: @Sendable (FileTreeError) -> FileTreeError
    /// nil at the end.
    private var producer: (any Producer<Element>)?
    private var ahead: Ahead?
    private var batch: [Element] = []
    private var place = 0

    fileprivate init(
      _ bench: Workers, _ path: FilePath, _ producer: any Producer<Element>,
      _ explain: @escaping @Sendable (FileTreeError) -> FileTreeError
    ) {
      self.bench = bench
      self.path = path
      self.producer = producer
      self.explain = explain
    }

    /// The next element; nil at the end, and after an error. Suspends only where a batch ends.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(FileTreeError) -> Element? {
      if place == batch.count, try await !refill(actor) { return nil }
      defer { place += 1 }
      return batch[place]
    }

    /// The next element; nil at the end, and after an error.
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
        Turn(on: bench) { () throws(Fault) in
          var producer = producer
          let elements = try producer.next()
          return (elements, producer)
        })
    }
  }
}

@available(*, unavailable)
extension TreeStream.Iterator: Sendable {}
