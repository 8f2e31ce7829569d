internal import Bytes
internal import Glibc
public import SystemPackage
internal import Threads
internal import Tree

extension FileTree {
  /// Makes a file with these bytes, or replaces those of one that is there, at once: whoever opens it has either the old bytes
  /// or the new ones, also after a crash. When it returns they are on the disk.
  ///
  /// A file that is replaced keeps its owner, group, permissions, access list and extended attributes, but is another one: its
  /// other names keep the old bytes. As when it is written, set-id bits are kept for root only, and attributes that vouch for
  /// the old bytes, such as capabilities, are not.
  ///
  /// - Throws: `missingParent`, `isADirectory`, `readOnlyView`, `noSpace`; `permissionDenied`, also if this user may not give
  ///   the new file the owner of the old one: it can be written by `open` then.
  public func save(_ bytes: [UInt8], to path: FilePath) async throws(FileTreeError) {
    try await save(bytes, to: path, replacing: true)
  }

  /// Makes a file with these bytes, at once.
  ///
  /// - Parameter replacing: whether a file that is there is replaced, as `save(_:to:)` does.
  /// - Throws: `alreadyExists` unless it is replaced, and the errors of `save(_:to:)`.
  public func save(_ bytes: [UInt8], to path: FilePath, replacing: Bool) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      let replacement = try Replacement(of: path.names, in: self, replacing: replacing)
      try replacement.file.write(bytes, at: 0)
      try replacement.finish()
    }
  }

  /// Makes a file of chunks, or replaces the bytes of one that is there, at once when the last chunk is written.
  ///
  /// The next chunk is asked for when the one before is written. If anything fails, or the task is cancelled before the last
  /// chunk is written, the old file stays.
  ///
  /// - Parameter replacing: whether a file that is there is replaced, as `save(_:to:)` does.
  /// - Throws: the errors of `save(_:to:replacing:)` and of the sequence.
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

  /// Writes bytes at a file's end, which is made if it is not there. They are not waited for to be on the disk.
  ///
  /// - Throws: `missingParent`, `isADirectory`, `readOnlyView`, `permissionDenied`; `noSpace`, after which some of the bytes
  ///   may be there.
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
  /// The number of bytes that are written between two checks whether this is still wanted.
  private static let step = 8 << 20

  /// Writes all bytes from `offset` on, or with nil at the end. Blocks.
  func write(_ bytes: [UInt8], at offset: Int64?) throws(Fault) {
    var done = 0
    while done < bytes.count {
      try Interest.check()
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
