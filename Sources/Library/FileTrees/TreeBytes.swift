/// The bytes of a file, one by one.
///
/// They come from chunks that are read ahead. A reader waits, or leaves its actor, only between chunks.
public struct TreeBytes: AsyncSequence, Sendable {
  /// A byte of the file.
  public typealias Element = UInt8
  /// The error of reading the file.
  public typealias Failure = FileTreeError

  @usableFromInline let chunks: TreeStream<[UInt8]>

  init(_ chunks: TreeStream<[UInt8]>) { self.chunks = chunks }

  /// Returns an iterator that starts with the first byte.
  @inlinable public func makeAsyncIterator() -> Iterator { Iterator(chunks.makeAsyncIterator()) }

  /// An iterator over the bytes, for one task.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var chunks: TreeStream<[UInt8]>.Iterator
    @usableFromInline var chunk: [UInt8] = []
    @usableFromInline var place = 0

    @usableFromInline init(_ chunks: TreeStream<[UInt8]>.Iterator) { self.chunks = chunks }

    /// Returns the next byte. Returns `nil` at the end, and after an error.
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

    /// Returns the next byte. Returns `nil` at the end, and after an error.
    @inlinable public mutating func next() async throws(FileTreeError) -> UInt8? { try await next(isolation: nil) }
  }
}

@available(*, unavailable)
extension TreeBytes.Iterator: Sendable {}
