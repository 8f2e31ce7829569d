internal import Bytes
internal import Glibc
internal import Locks
public import SystemPackage
internal import Tree

extension FileTree {
  /// Opens a file, for reads and writes at any offset.
  ///
  /// - Parameters:
  ///   - path: The file. A file in a view can only be opened for reading.
  ///   - mode: Whether the file is read, written or both.
  ///   - options: `create`, `exclusiveCreate`, `truncate`, `append` and `noFollow`, as in `FileDescriptor.open`. Others
  ///   have no effect.
  ///   - permissions: The permissions of a file that is created, to which the umask of the process applies.
  /// - Throws: `notFound`, `isADirectory`, `permissionDenied`, and the errors of making a file of a view;
  ///   `alreadyExists` with `exclusiveCreate`; `missingParent` with `create`; `invalidPath` for a symbolic link with
  ///   `noFollow`; `readOnlyView` and `readOnly` for a file that is to be changed.
  public func open(
    _ path: FilePath, _ mode: FileDescriptor.AccessMode = .readOnly, options: FileDescriptor.OpenOptions = [],
    permissions: FilePermissions = [.ownerReadWrite, .groupReadWrite, .otherReadWrite]
  ) async throws(FileTreeError) -> OpenFile {
    let flags = mode.rawValue | options.rawValue & Self.openFlags
    let bits = UInt16(truncatingIfNeeded: permissions.rawValue) & 0o7777
    if flags & (O_ACCMODE | O_CREAT | O_TRUNC) == O_RDONLY {
      return try await run(path) { [self] () throws(Fault) in
        let place = try openable(path, flags)
        return OpenFile(try place.open(.blocking), at: path, of: place, in: self, flags)
      }
    }
    return try await change(path) { [self] () throws(Fault) in
      for _ in 0..<Self.tries {
        do throws(Fault) { return try open(path, flags, bits) } catch {
          // Another process created the file between the two calls.
          guard error.kind == .system(ESTALE), flags & O_CREAT != 0 else { throw error }
        }
      }
      return try open(path, flags, bits)
    }
  }

  /// The maximum number of attempts to open a file that other processes create and remove.
  private static let tries = 8
  private static let openFlags = O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_NOFOLLOW

  private func open(_ path: FilePath, _ flags: Int32, _ permissions: UInt16) throws(Fault) -> OpenFile {
    let isNew = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL
    // A symbolic link, even a broken one, has the name.
    if flags & O_CREAT != 0, try existing(path.names, followsLast: !isNew && flags & O_NOFOLLOW == 0) == nil {
      let (folder, name) = try parent(of: path.names)
      if !isNew, try existing(path.names, followsLast: false) != nil {
        throw Fault(.system(ENOENT), "its symbolic link leads nowhere")
      }
      let (entry, file) = try tree.create(
        name, in: folder.node, flags: flags, permissions: permissions, by: Self.maker)
      defer { tree.forget(entry.node, 1) }
      return OpenFile(file, at: path, of: try folder.child(name, .blocking), in: self, flags)
    }
    if isNew { throw Fault(.system(EEXIST)) }
    let place = try openable(path, flags)
    return OpenFile(try tree.open(place.node, flags: flags, for: nil), at: path, of: place, in: self, flags)
  }

  private func openable(_ path: FilePath, _ flags: Int32) throws(Fault) -> ResolvedPath {
    let place = try place(path, followsLast: flags & O_NOFOLLOW == 0)
    if place.attributes.kind == .folder { throw .isFolder }
    if place.attributes.kind == .link { throw Fault(.system(ELOOP)) }
    return place
  }

  /// An open file.
  ///
  /// Several tasks can call its methods concurrently. Renaming or removing the file does not affect it. The file is
  /// closed with its last reference, but only `close()` reports errors of earlier writes.
  ///
  /// A task that is cancelled during a write continues at once. The write may be incomplete, or still in progress.
  public final class OpenFile: Sendable {
    /// The path with which the file was opened.
    public let path: FilePath
    private let tree: FileTree
    private let place: ResolvedPath
    private let flags: Int32
    /// Nil after `close()`.
    private let file: UnfairLock<Tree.OpenFile?>

    /// The number of bytes read in one step.
    private static let step = 4 << 20
    /// The maximum number of bytes read by one call.
    private static let most = 2 << 30

    fileprivate init(
      _ file: Tree.OpenFile, at path: FilePath, of place: ResolvedPath, in tree: FileTree, _ flags: Int32
    ) {
      self.path = path
      self.tree = tree
      self.place = place
      self.flags = flags
      self.file = UnfairLock(file)
    }

    // MARK: Reading

    /// Returns the bytes at an offset. The result is shorter than `count` only at the end of the file.
    ///
    /// - Throws: `limitExceeded` for more than 2 GiB; the errors of making a file of a view; `system` with
    ///   `.badFileDescriptor` if the file is closed or was opened only for writing, and with `.invalidArgument` for a
    ///   negative number.
    public func read(at offset: Int64, count: Int) async throws(FileTreeError) -> [UInt8] {
      guard offset >= 0, count >= 0 else { throw .invalid(path, "a negative offset or count cannot be read") }
      return try await use(reads: true) { (file) throws(Fault) in
        var bytes: [UInt8] = []
        let source = file.source
        let there = source.hasKnownSize ? Int(min(Int64(count), max(0, source.size - offset))) : count
        if there > Self.most, source.hasKnownSize {
          throw Fault(.limit, "more than \(Self.most) bytes cannot be read at once")
        }
        while bytes.count < count {
          try CancellationToken.check()
          let (place, isBeyond) = offset.addingReportingOverflow(Int64(bytes.count))
          if isBeyond { break }
          let wanted = min(Self.step, count - bytes.count)
          let part = try waiting { () throws(Fault) in try file.bytes(at: place, count: wanted) }
          if bytes.isEmpty {
            if part.count == there || part.count < wanted { return part }
            if source.hasKnownSize { bytes.reserveCapacity(there) }
          }
          guard bytes.count + part.count <= Self.most else {
            throw Fault(.limit, "more than \(Self.most) bytes cannot be read at once")
          }
          bytes += part
          if part.count < wanted { break }
        }
        return bytes
      }
    }

    /// Returns the bytes of the file or a part of it, in chunks. One chunk is read ahead.
    ///
    /// - Parameters:
    ///   - range: The range of bytes. Offsets beyond the end are ignored. `nil` for the whole file.
    ///   - size: The size of each chunk except the last, in bytes.
    /// - Throws: While it is iterated: the errors of `read(at:count:)`.
    public func chunks(range: Range<Int64>? = nil, size: Int = 512 << 10) -> TreeStream<[UInt8]> {
      TreeStream(Chunks(self, range, size: max(1, min(size, Self.most))), of: path, on: tree.bench)
    }

    /// Reads chunks of the file until it is closed.
    private struct Chunks: Producer {
      private let file: OpenFile
      private let range: Range<Int64>?
      private let size: Int
      private var reader: ChunkReader?

      init(_ file: OpenFile, _ range: Range<Int64>?, size: Int) {
        self.file = file
        self.range = range
        self.size = size
      }

      mutating func next() throws(Fault) -> [[UInt8]]? {
        let open = try file.opened(reads: true)
        if reader == nil { reader = ChunkReader(file.tree, file.path, range, size: size, of: open) }
        return try reader?.next()
      }
    }

    // MARK: Writing

    /// Writes all bytes at an offset. A gap between the end of the file and the offset is filled with zeros.
    ///
    /// If the file was opened with `append`, the bytes are written at the end, regardless of the offset.
    ///
    /// - Throws: `noSpace` and `limitExceeded`, after which some of the bytes may be written; `system` with
    ///   `.badFileDescriptor` if the file is closed or was opened only for reading, and with `.invalidArgument` for a
    ///   negative offset.
    public func write(_ bytes: [UInt8], at offset: Int64) async throws(FileTreeError) {
      guard offset >= 0 else { throw .invalid(path, "an offset is negative") }
      let appends = flags & O_APPEND != 0
      try await use(writes: true) { (file) throws(Fault) in try file.write(bytes, at: appends ? nil : offset) }
    }

    /// Writes all bytes at the current end of the file. Several processes can append to the same file.
    ///
    /// - Throws: The errors of `write(_:at:)`.
    public func append(_ bytes: [UInt8]) async throws(FileTreeError) {
      try await use(writes: true) { (file) throws(Fault) in try file.write(bytes, at: nil) }
    }

    /// Writes consecutive chunks, starting at an offset, and returns the number of bytes.
    ///
    /// Each chunk is requested after the previous one is written.
    ///
    /// - Throws: The errors of `write(_:at:)` and of the sequence, after which all previous chunks are written.
    @discardableResult
    public func write<Chunks: AsyncSequence>(
      _ chunks: Chunks, at offset: Int64, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int64 where Chunks.Element == [UInt8] {
      var count: Int64 = 0
      var iterator = chunks.makeAsyncIterator()
      while let chunk = try await iterator.next(isolation: isolation) {
        let (place, isBeyond) = offset.addingReportingOverflow(count)
        guard !isBeyond else { throw FileTreeError.invalid(path, "an offset is too large") }
        try await write(chunk, at: place)
        count += Int64(chunk.count)
      }
      return count
    }

    /// Truncates the file, or extends it by zeros that take no space.
    ///
    /// - Throws: The errors of `write(_:at:)`.
    public func resize(to size: Int64) async throws(FileTreeError) {
      guard size >= 0 else { throw .invalid(path, "a file cannot have a negative size") }
      try await use(writes: true) { [tree, place] (file) throws(Fault) in
        var changes = Tree.AttributeChanges()
        changes.size = size
        _ = try tree.tree.change(place.node, changes, of: file, for: nil)
      }
    }

    /// Waits until the written bytes are on disk.
    ///
    /// - Parameter onlyData: Whether metadata, such as times, can be left out.
    /// - Throws: An error of earlier writes; `system` with `.badFileDescriptor` if the file is closed.
    public func synchronize(onlyData: Bool = false) async throws(FileTreeError) {
      try await use { (file) throws(Fault) in try file.sync(onlyData: onlyData, .blocking) }
    }

    /// Closes the file. Calls in progress continue. Later calls throw an error, except for `close()`, which has no
    /// effect.
    ///
    /// - Throws: An error of earlier writes, which some file systems report only now.
    public func close() async throws(FileTreeError) {
      guard let file = file.withLock({ $0.take() }) else { return }
      try await tree.run(path) { () throws(Fault) in try file.flush(owner: 0) }
    }

    // MARK: Attributes

    /// Returns the current attributes.
    ///
    /// - Parameter exactSize: Whether a file with an estimated size is made to determine the size.
    /// - Throws: The errors of making a file of a view; `system` with `.badFileDescriptor` if the file is closed.
    public func attributes(exactSize: Bool = false) async throws(FileTreeError) -> Attributes {
      try await use { [place] (_) throws(Fault) in try Attributes(of: place, isExact: exactSize) }
    }

    /// Changes attributes.
    ///
    /// - Throws: `readOnlyView`, `permissionDenied`; `system` with `.badFileDescriptor` if the file is closed.
    public func setAttributes(_ changes: AttributeChanges) async throws(FileTreeError) {
      let changes = try changes.checked(path)
      try await use { [tree, place] (file) throws(Fault) in
        _ = try tree.tree.change(place.node, changes, of: file, for: nil)
      }
    }

    // MARK: Running calls

    /// Runs `body` with the open file on a thread of the tree.
    private func use<Value: Sendable>(
      reads: Bool = false, writes: Bool = false, isolation: isolated (any Actor)? = #isolation,
      _ body: @escaping @Sendable (Tree.OpenFile) throws(Fault) -> Value
    ) async throws(FileTreeError) -> Value {
      let file: Tree.OpenFile
      do throws(Fault) { file = try opened(reads: reads, writes: writes) } catch { throw FileTreeError(error, path) }
      return try await tree.run(path) { () throws(Fault) in try body(file) }
    }

    private func opened(reads: Bool = false, writes: Bool = false) throws(Fault) -> Tree.OpenFile {
      guard let file = file.withLock({ $0 }) else { throw Fault(.system(EBADF), "it is closed") }
      let mode = flags & O_ACCMODE
      if reads, mode == O_WRONLY { throw Fault(.system(EBADF), "it was not opened for reading") }
      if writes, mode == O_RDONLY { throw Fault(.system(EBADF), "it was not opened for writing") }
      return file
    }
  }
}
