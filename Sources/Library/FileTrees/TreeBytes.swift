/// The bytes of a file, one by one.
///
/// They come from chunks that are read ahead: only where one ends does a reader wait, or leave its actor.
public struct TreeBytes: AsyncSequence, Sendable {
  /// One byte.
  public typealias Element = UInt8
  /// What reading the file throws.
  public typealias Failure = FileTreeError

  @usableFromInline let chunks: TreeStream<[UInt8]>

  init(_ chunks: TreeStream<[UInt8]>) { self.chunks = chunks }

  /// Starts at the beginning.
  @inlinable public func makeAsyncIterator() -> Iterator { Iterator(chunks.makeAsyncIterator()) }

  /// Bytes in order, by one reader.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var chunks: TreeStream<[UInt8]>.Iterator
    @usableFromInline var chunk: [UInt8] = []
    @usableFromInline var place = 0

    @usableFromInline init(_ chunks: TreeStream<[UInt8]>.Iterator) { self.chunks = chunks }

    /// The next byte; nil at the end, and after an error.
    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FileTreeError) -> UInt8? {
      if place == chunk.count {
        guard let next = try await chunks.next(isolation: actor) else { return nil }
        (chunk, place) = (next, 0)
      }
      let byte = chunk[place]
      place &+= 1
      return byte
    }

    /// The next byte; nil at the end, and after an error.
    @inlinable public mutating func next() async throws(FileTreeError) -> UInt8? { try await next(isolation: nil) }
  }
}

@available(*, unavailable)
extension TreeBytes.Iterator: Sendable {}
