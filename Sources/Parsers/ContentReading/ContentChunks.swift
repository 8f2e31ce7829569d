/// The bytes of a content, chunk by chunk: `while let chunk = try chunks.next() { … }`.
///
/// Each value reads from the start. A copy continues from the position of the original.
public struct ContentChunks: Sendable {
  private let content: Content
  private let size: Int64
  private var place: Int64 = 0

  init(of content: Content, size: Int) {
    self.content = content
    self.size = Int64(size)
  }

  /// Returns the next chunk. Returns `nil` after the last. Blocks.
  ///
  /// - Throws: ``ReadingError`` if the chunk cannot be read, with ``ReadingError/Code/damaged`` at the last chunk if a
  ///   recorded checksum is wrong. The next call tries the same chunk again.
  public mutating func next() throws(ReadingError) -> [UInt8]? {
    guard place < content.size else { return nil }
    let end = place + min(size, content.size - place)
    let chunk = try content.bytes(in: place..<end)
    place = end
    return chunk
  }
}
