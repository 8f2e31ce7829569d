internal import Bytes
internal import Files
internal import Glibc

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
