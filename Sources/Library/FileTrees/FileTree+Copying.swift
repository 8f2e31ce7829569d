package import Bytes
internal import Glibc
public import SystemPackage
package import Tree

extension FileTree {
  /// The state of a copy in progress.
  public struct CopyProgress: Sendable, Hashable {
    /// The path of the file that is being copied, from the root.
    public let path: FilePath
    /// The number of bytes copied.
    public let bytes: Int64
    /// The number of bytes to copy. This is an estimate while it includes files of views that have not been made.
    public let totalBytes: Int64
    /// The number of files, directories and links copied.
    public let items: Int
    /// The number of files, directories and links to copy.
    public let totalItems: Int

    /// The completed fraction, from 0 to 1. It is 1 only at the end.
    public var fraction: Double {
      if items == totalItems { return 1 }
      return min(0.999, totalBytes > 0 ? Double(bytes) / Double(totalBytes) : Double(items) / Double(totalItems))
    }
  }

  /// Copies a file, or a directory with its contents. A copy of a view contains its bytes: a copy of `a.zip.contents`
  /// is the unpacked archive.
  ///
  /// Bytes are shared if the file system supports it (reflink). Otherwise the system copies them if both files are
  /// real. A file appears when it is complete, a directory as it is copied. Permissions are copied, owners and times
  /// are not. A replaced file keeps its own attributes, as in `save(_:to:)`.
  ///
  /// - Parameter replacing: Whether an existing file with the new name is replaced.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `readOnlyView`, `noSpace`, and the errors of reading a
  ///   file.
  public func copy(
    _ path: FilePath, to newPath: FilePath, replacing: Bool = false
  ) async throws(FileTreeError) {
    try await copy(path, to: newPath, replacing, nil)
  }

  /// Copies as `copy(_:to:replacing:)` does, and reports progress. All names are looked up before the first byte is
  /// copied.
  ///
  /// - Parameter progress: Called on a thread of the tree, in order: after each item, within large files, and finally
  ///   when the copy is complete. The copy waits for it.
  /// - Throws: The errors of `copy(_:to:replacing:)`.
  public func copy(
    _ path: FilePath, to newPath: FilePath, replacing: Bool = false,
    progress: @escaping @Sendable (CopyProgress) -> Void
  ) async throws(FileTreeError) {
    try await copy(path, to: newPath, replacing, progress)
  }

  private func copy(
    _ path: FilePath, to newPath: FilePath, _ replacing: Bool, _ progress: (@Sendable (CopyProgress) -> Void)?
  ) async throws(FileTreeError) {
    try await change(path, and: newPath) { [self] () throws(Fault) in
      let place = try place(path)
      let counter = CopyCounter(progress)
      if progress != nil { try count(place, counter) }
      try copy(place, to: newPath.names, replacing: replacing, counter)
    }
  }

  /// Copies an item that has been found, as `copy(_:to:replacing:)` does. Blocks.
  package func copyItem(_ source: ResolvedPath, to names: [FileName], replacing: Bool) throws(Fault) {
    try copy(source, to: names, replacing: replacing, CopyCounter(nil))
  }

  private func count(_ source: ResolvedPath, _ counter: CopyCounter) throws(Fault) {
    counter.totalItems += 1
    switch source.attributes.kind {
    case .folder: for (name, _) in try source.realEntries() { try count(source.child(name, .blocking), counter) }
    case .file: counter.totalBytes += max(0, source.attributes.size)
    case .link, .fifo, .socket, .characterDevice, .blockDevice, .unknown: break
    }
  }

  private func copy(
    _ source: ResolvedPath, to names: [FileName], replacing: Bool, _ counter: CopyCounter
  ) throws(Fault) {
    counter.begin(source)
    switch source.attributes.kind {
    case .file:
      let file = try waiting { () throws(Fault) in try source.open(.blocking) }
      let replacement = try Replacement(of: names, in: self, replacing: replacing, isClosed: true)
      try file.copyAll(to: replacement.file) { counter.add($0) }
      try replacement.finish(permissions: source.attributes.permissions & 0o777 | 0o200)
    case .folder:
      let (folder, name) = try parent(of: names)
      // The names may lead through links, those of the folder do not.
      if (folder.names + [name]).starts(with: source.names) {
        throw Fault(.system(EINVAL), "a folder cannot be copied into itself")
      }
      let entry = try tree.makeFolder(name, in: folder.node, permissions: 0o777, by: Self.maker)
      tree.forget(entry.node, 1)
      for (name, _) in try source.realEntries() where !TemporaryName.isOne(name.bytes) {
        try copy(source.child(name, .blocking), to: names + [name], replacing: false, counter)
      }
    case .link:
      let (folder, name) = try parent(of: names)
      let target = try tree.linkTarget(source.node, .blocking)
      let entry = try tree.makeLink(name, to: FileName(target), in: folder.node, by: Self.maker)
      tree.forget(entry.node, 1)
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown: throw Fault(.unsupported, "it is not a regular file")
    }
    counter.end(source)
  }
}

/// Counts the copied items and bytes, on one thread.
private final class CopyCounter {
  private let report: ((FileTree.CopyProgress) -> Void)?
  private var path: FilePath = ""
  private var bytes: Int64 = 0
  /// The number of bytes copied of the current file.
  private var done: Int64 = 0
  private var items = 0
  var totalBytes: Int64 = 0
  var totalItems = 0

  init(_ report: ((FileTree.CopyProgress) -> Void)?) { self.report = report }

  func begin(_ source: ResolvedPath) {
    guard report != nil else { return }
    (path, done) = (FilePath(source.names), 0)
  }

  func add(_ count: Int64) {
    bytes += count
    done += count
    tell()
  }

  func end(_ source: ResolvedPath) {
    items += 1
    // The size may have been an estimate.
    if source.attributes.kind == .file { totalBytes += done - max(0, source.attributes.size) }
    done = 0
    tell()
  }

  private func tell() {
    report?(
      FileTree.CopyProgress(
        path: path, bytes: bytes, totalBytes: max(bytes, totalBytes), items: items, totalItems: max(items, totalItems)))
  }
}

extension Tree.OpenFile {
  /// The number of bytes copied between two reports, by the system and by this process.
  private static let step = (system: Int64(16 << 20), own: 1 << 20)
  /// The errors of copy_file_range(2) after which this process can copy the bytes.
  private static let cannotCopy = [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP]

  /// Copies all bytes.
  ///
  /// - Parameter report: Called with the number of bytes since the last call.
  func copyAll(to target: Tree.OpenFile, _ report: (Int64) -> Void) throws(Fault) {
    do throws(Fault) {
      try clone(to: target)
      return report(target.source.size)
    } catch {}
    var offset: Int64 = 0
    do throws(Fault) {
      var isEnd = false
      while !isEnd, let data = data(from: offset) {
        let (start, length) = (data.lowerBound, data.upperBound - data.lowerBound)
        let count = try copy(
          from: start, to: target, at: start, count: Int(min(Self.step.system, length)), for: nil, .blocking)
        isEnd = count == 0
        if isEnd { break }
        report(start - offset + Int64(count))
        offset = start + Int64(count)
        try CancellationToken.check()
      }
      if !isEnd, offset < source.size {
        // A hole is the rest.
        try target.extend(to: source.size)
        return report(source.size - offset)
      }
      if offset > 0 || source.size == 0 { return }
    } catch {
      guard Self.cannotCopy.contains(where: { error.kind == .system($0) }) else { throw error }
    }
    while case let bytes = try waiting({ () throws(Fault) in try self.bytes(at: offset, count: Self.step.own) }),
      !bytes.isEmpty
    {
      try target.write(bytes, at: offset)
      offset += Int64(bytes.count)
      report(Int64(bytes.count))
    }
  }

  /// Returns the range of the next bytes of a real file that are not a hole. Returns `nil` if a hole is the rest. All
  /// bytes of other files count.
  private func data(from offset: Int64) -> Range<Int64>? {
    guard isReal else { return offset..<Int64.max }
    do throws(Fault) {
      guard let start = try source.next(.data, from: offset), start >= offset else { return nil }
      let end = try source.next(.hole, from: start) ?? .max
      return start..<max(start + 1, end)
    } catch { return offset..<Int64.max }
  }

  /// Extends a real file by a hole.
  private func extend(to size: Int64) throws(Fault) {
    let status = withDescriptor { ftruncate($0, off_t(size)) == 0 ? 0 : errno }
    if let status, status != 0 { throw Fault(.system(status), "ftruncate") }
  }
}
