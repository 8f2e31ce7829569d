package import Bytes
internal import Files
internal import Glibc

/// Bytes that can be read as a whole, in chunks, or at any offset: a file, a member of an archive, an attachment, an
/// array.
///
/// Encoded bytes are decoded as they are read. Safe to use from several threads at once. A file is closed with the last
/// value that reads from it.
public struct Content: Sendable {
  package let source: any ByteSource

  /// The exact size in bytes.
  public let size: Int64

  /// Creates content and determines its size if it is unknown. Blocks.
  package init(_ source: any ByteSource) throws(ReadingError) {
    try ReadingError.of { () throws(Fault) in try source.findSize(.blocking) }
    self.source = source
    size = source.size
  }

  /// Creates content from bytes in memory.
  public init(_ bytes: [UInt8]) {
    source = ByteArraySource(bytes)
    size = source.size
  }

  /// Creates content whose bytes the program provides, for example from a database or a network.
  ///
  /// - Parameters:
  ///   - size: The size in bytes.
  ///   - reading: Returns exactly the bytes of a range within `size`. It can be called on any thread, by several
  ///     threads at once, and may block. An error that it throws becomes a ``ReadingError`` with the code
  ///     ``ReadingError/Code/source`` and the error's description, unless it is a ``ReadingError``.
  public init(size: Int64, reading: @escaping @Sendable (Range<Int64>) throws -> [UInt8]) {
    source = GivenSource(size: size, reading)
    self.size = source.size
  }

  /// Returns all bytes. Blocks.
  ///
  /// - Parameter limit: The maximum number of bytes. A few kilobytes of an archive can claim to be a terabyte.
  /// - Throws: ``ReadingError`` with ``ReadingError/Code/tooLarge`` if there are more than `limit` bytes, with
  ///   ``ReadingError/Code/damaged`` if a recorded checksum is wrong, or another code if they cannot be read.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] {
    guard size <= limit else { throw ReadingError(.tooLarge, "it has \(size) bytes, over the limit of \(limit)") }
    return try bytes(in: 0..<size)
  }

  /// Returns the bytes of a range. Blocks.
  ///
  /// Bytes before the range may have to be decoded, too. To read all bytes, ``chunks(of:)`` is faster.
  ///
  /// - Parameter range: The range in bytes. Bytes beyond the end are omitted.
  /// - Throws: ``ReadingError`` if the bytes cannot be read. A recorded checksum is verified only if all bytes are read
  ///   from the start.
  public func bytes(in range: Range<Int64>) throws(ReadingError) -> [UInt8] {
    let range = range.clamped(to: 0..<size)
    return try ReadingError.of { () throws(Fault) in
      try source.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
    }
  }

  /// Returns all bytes sequentially in chunks, with bounded memory for any size. Reads nothing yet.
  ///
  /// - Parameter size: The size of each chunk except the last, in bytes. At least 1.
  public func chunks(of size: Int = 256 << 10) -> ContentChunks { ContentChunks(of: self, size: max(1, size)) }
}

extension Content {
  /// Opens a file, which stays open. Blocks.
  ///
  /// - Parameter path: An absolute path, or one relative to the working directory. Symbolic links are followed.
  /// - Throws: ``ReadingError`` with ``ReadingError/Code/system`` if the file cannot be opened, with
  ///   ``ReadingError/Code/unsupported`` if it is not a regular file. Reads throw ``ReadingError/Code/changed`` after
  ///   the file has been written to.
  public init(at path: String) throws(ReadingError) {
    let file = try ReadingError.of { () throws(Fault) in
      let descriptor = try Descriptor.open(path: path, for: .reading)
      let status = try FileStatus(of: descriptor.raw)
      guard status.type == S_IFREG else { throw Fault(.unsupported, "expected a file, found something else") }
      // The pool's only descriptor is never closed to free a slot.
      let held = PooledDescriptor(DescriptorPool(capacity: 1), opened: descriptor) { () throws(Fault) in
        throw Fault(.changed, "the file is no longer open")
      }
      return FileSource(held, opened: status, isPinned: true)
    }
    try self.init(file)
  }
}
