/// The bytes of a content, chunk by chunk: `while let chunk = try chunks.next() { … }`.
///
/// A value of its own that reads from the start; copies go on from where they were made.
public struct ContentChunks: Sendable {
  private let content: Content
  private let size: Int64
  private var place: Int64 = 0

  init(of content: Content, size: Int) {
    self.content = content
    self.size = Int64(size)
  }

  /// The next chunk; nil after the last. Blocks.
  ///
  /// - Throws: ``ReadingError`` if it cannot be read; with ``ReadingError/Code/damaged``, at the last chunk, if a
  ///   recorded checksum is wrong. The same chunk is tried again by the next call.
  public mutating func next() throws(ReadingError) -> [UInt8]? {
    guard place < content.size else { return nil }
    let end = place + min(size, content.size - place)
    let chunk = try content.bytes(in: place..<end)
    place = end
    return chunk
  }
}
