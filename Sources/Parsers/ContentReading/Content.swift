package import Bytes

/// Bytes that can be read as a whole, in chunks, or at any offset: a file, a member of an archive, an attachment, an
/// array.
///
/// What has to be decoded is decoded as it is read. Safe to use from several threads at once. A file is closed with the
/// last value that reads from it.
public struct Content: Sendable {
  package let source: any ByteSource

  /// In bytes, exact.
  public let size: Int64

  /// Finds the size if it is not known yet. Blocks.
  package init(_ source: any ByteSource) throws(ReadingError) {
    try ReadingError.of { () throws(Fault) in try source.findSize(.blocking) }
    self.source = source
    size = source.size
  }

  /// Bytes in memory.
  public init(_ bytes: [UInt8]) {
    source = ByteArraySource(bytes)
    size = source.size
  }

  /// Bytes of the program's own: of a database, say, or of a network.
  ///
  /// - Parameters:
  ///   - size: In bytes.
  ///   - reading: Gives the bytes of a range that lies within `size`, exactly as many. May be called on any thread, by
  ///     several at once, and may block. What it throws becomes a ``ReadingError`` with the code
  ///     ``ReadingError/Code/source`` and the description of what was thrown, unless it is a ``ReadingError``.
  public init(size: Int64, reading: @escaping @Sendable (Range<Int64>) throws -> [UInt8]) {
    source = GivenSource(size: size, reading)
    self.size = source.size
  }

  /// All bytes. Blocks.
  ///
  /// - Parameter limit: In bytes: a few kilobytes of an archive may claim to be a terabyte.
  /// - Throws: ``ReadingError`` with ``ReadingError/Code/tooLarge`` if there are more than `limit`, with
  ///   ``ReadingError/Code/damaged`` if a recorded checksum is wrong, or another code if they cannot be read.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] {
    guard size <= limit else { throw ReadingError(.tooLarge, "it has \(size) bytes, over the limit of \(limit)") }
    return try bytes(in: 0..<size)
  }

  /// The bytes of a range. Blocks.
  ///
  /// What is before the range may have to be decoded, too: to read all, ``chunks(of:)`` is faster.
  ///
  /// - Parameter range: In bytes; what is beyond the end is left out.
  /// - Throws: ``ReadingError`` if they cannot be read. A recorded checksum is verified only when all is read from the
  ///   start on.
  public func bytes(in range: Range<Int64>) throws(ReadingError) -> [UInt8] {
    let range = range.clamped(to: 0..<size)
    return try ReadingError.of { () throws(Fault) in
      try source.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
    }
  }

  /// All bytes from the first to the last, a chunk at a time: memory is bounded whatever the size. Reads nothing yet.
  ///
  /// - Parameter size: Of each chunk but the last, in bytes; at least 1.
  public func chunks(of size: Int = 256 << 10) -> ContentChunks { ContentChunks(of: self, size: max(1, size)) }
}
