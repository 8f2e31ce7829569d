internal import Bytes
internal import Glibc
public import SystemPackage
internal import Threads
internal import Tree

extension FileTree {
  /// Creates a file with these bytes, or atomically replaces the bytes of an existing one. Readers see either the old
  /// or the new bytes, also after a crash. The bytes are on disk when the call returns.
  ///
  /// A replaced file keeps its owner, group, permissions, access list and extended attributes, but is a new file. Its
  /// other names keep the old bytes. As after a write, only root keeps set-ID bits. Attributes that vouch for the old
  /// bytes, such as capabilities, are removed.
  ///
  /// - Throws: `missingParent`, `isADirectory`, `readOnlyView`, `noSpace`; `permissionDenied`, also if this user may
  ///   not set the new file's owner to the old one. The file can be written with `open` in that case.
  public func save(_ bytes: [UInt8], to path: FilePath) async throws(FileTreeError) {
    try await save(bytes, to: path, replacing: true)
  }

  /// Creates a file with these bytes, atomically.
  ///
  /// - Parameter replacing: Whether an existing file is replaced, as `save(_:to:)` does.
  /// - Throws: `alreadyExists` if an existing file is not replaced, and the errors of `save(_:to:)`.
  public func save(_ bytes: [UInt8], to path: FilePath, replacing: Bool) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      let replacement = try Replacement(of: path.names, in: self, replacing: replacing)
      try replacement.file.write(bytes, at: 0)
      try replacement.finish()
    }
  }

  /// Creates a file from chunks, or replaces the bytes of an existing one. The change is atomic and happens after the
  /// last chunk.
  ///
  /// Each chunk is requested after the previous one is written. If an error occurs, or the task is cancelled before the
  /// last chunk is written, the old file is kept.
  ///
  /// - Parameter replacing: Whether an existing file is replaced, as `save(_:to:)` does.
  /// - Throws: The errors of `save(_:to:replacing:)` and of the sequence.
  public func save<Chunks: AsyncSequence>(
    _ chunks: Chunks, to path: FilePath, replacing: Bool = true, isolation: isolated (any Actor)? = #isolation
  ) async throws where Chunks.Element == [UInt8] {
    let replacement = try await change(path) { [self] () throws(Fault) in
      try Replacement(of: path.names, in: self, replacing: replacing)
    }
    do {
      var offset: Int64 = 0
      var iterator = chunks.makeAsyncIterator()
      while let chunk = try await iterator.next(isolation: isolation) {
        try await change(path) { [offset] () throws(Fault) in try replacement.file.write(chunk, at: offset) }
        offset += Int64(chunk.count)
      }
      try await change(path) { () throws(Fault) in try replacement.finish() }
    } catch {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        bench.submit {
          replacement.discard()
          done.resume()
        }
      }
      throw error
    }
  }

  /// Appends bytes to a file, which is created if it does not exist. Does not wait until they are on disk.
  ///
  /// - Throws: `missingParent`, `isADirectory`, `readOnlyView`, `permissionDenied`; `noSpace`, after which some of the
  ///   bytes may be written.
  public func append(_ bytes: [UInt8], to path: FilePath) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      if let place = try existing(path.names) {
        if place.attributes.kind == .folder { throw .isFolder }
        return try tree.open(place.node, flags: O_WRONLY | O_APPEND, for: nil).write(bytes, at: nil)
      }
      let (folder, name) = try parent(of: path.names)
      let (entry, file) = try tree.create(
        name, in: folder.node, flags: O_WRONLY | O_APPEND, permissions: 0o666, by: Self.maker)
      defer { tree.forget(entry.node, 1) }
      try file.write(bytes, at: nil)
    }
  }
}

extension Tree.OpenFile {
  /// The number of bytes written between two checks for cancellation.
  private static let step = 8 << 20

  /// Writes all bytes at `offset`, or at the end if it is `nil`. Blocks.
  func write(_ bytes: [UInt8], at offset: Int64?) throws(Fault) {
    var done = 0
    while done < bytes.count {
      try CancellationToken.check()
      let part = bytes[done..<min(bytes.count, done + Self.step)]
      var fault: Fault?
      unsafe part.withUnsafeBytes { part in
        let (place, isBeyond) = (offset ?? 0).addingReportingOverflow(Int64(done))
        do throws(Fault) {
          if isBeyond { throw Fault(.system(EFBIG)) }
          done += unsafe try write(part, at: offset == nil ? nil : place, for: nil)
        } catch { fault = error }
      }
      if let fault { throw fault }
    }
  }
}
