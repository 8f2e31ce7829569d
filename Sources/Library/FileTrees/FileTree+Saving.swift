internal import Bytes
internal import Glibc
public import SystemPackage
internal import Tree

extension FileTree {
  /// Makes a file with these bytes, or replaces those of one that is there, at once: whoever opens it has either the old bytes
  /// or the new ones, also after a crash. When it returns they are on the disk.
  ///
  /// A file that is replaced keeps its permissions, but is another one: its other names keep the old bytes.
  ///
  /// - Throws: `missingParent`, `isADirectory`, `readOnlyView`, `permissionDenied`, `noSpace`.
  public func save(_ bytes: [UInt8], to path: FilePath) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      try replace(path, permissions: nil, replacing: true) { (file) throws(Fault) in try file.append(bytes) }
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
        return try tree.open(place.node, flags: O_WRONLY | O_APPEND, for: nil).append(bytes, at: nil)
      }
      let (folder, name) = try parent(of: path.names)
      let (entry, file) = try tree.create(
        name, in: folder.node, flags: O_WRONLY | O_APPEND, permissions: 0o666, by: Self.maker)
      defer { tree.forget(entry.node, 1) }
      try file.append(bytes)
    }
  }

  /// Copies a file, or a folder with all that is in it. Of a view the copy has the bytes: that of `a.zip.contents` is the
  /// archive unpacked.
  ///
  /// Bytes are shared where the file system can (reflink), else copied by the system if both files are real. A file appears
  /// at once, a folder as it is copied. Permissions are copied, owners and times are not.
  ///
  /// - Parameter replacing: whether a file that has the new name is replaced.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `readOnlyView`, `noSpace`, and what keeps a file from being read.
  public func copy(
    _ path: FilePath, to newPath: FilePath, replacing: Bool = false
  ) async throws(FileTreeError) {
    try await change(path, and: newPath) { [self] () throws(Fault) in
      try copy(place(path), to: newPath.names, replacing: replacing)
    }
  }

  private func copy(_ source: Place, to names: [FileName], replacing: Bool) throws(Fault) {
    switch source.attributes.kind {
    case .file:
      let file = try waiting { () throws(Fault) in try source.open(.blocking) }
      try replace(
        FilePath(names), permissions: source.attributes.permissions & 0o777 | 0o200, replacing: replacing
      ) { (target) throws(Fault) in try file.copyAll(to: target) }
    case .folder:
      let (folder, name) = try parent(of: names)
      if names.starts(with: source.names) {
        throw Fault(.system(EINVAL), "a folder cannot be copied into itself")
      }
      let entry = try tree.makeFolder(name, in: folder.node, permissions: 0o777, by: Self.maker)
      tree.forget(entry.node, 1)
      for (name, _) in try source.realEntries() {
        try copy(source.child(name, .blocking), to: names + [name], replacing: false)
      }
    case .link:
      let (folder, name) = try parent(of: names)
      let target = try tree.linkTarget(source.node, .blocking)
      let entry = try tree.makeLink(name, to: FileName(target), in: folder.node, by: Self.maker)
      tree.forget(entry.node, 1)
    case .fifo, .socket, .characterDevice, .blockDevice: throw Fault(.unsupported, "it is no file that has bytes")
    }
  }

  /// Makes a file under a passing name, and gives it its own once it is on the disk.
  ///
  /// - Parameter permissions: those of a new file; nil for the usual ones.
  private func replace(
    _ path: FilePath, permissions: UInt16?, replacing: Bool, _ fill: (Tree.OpenFile) throws(Fault) -> Void
  ) throws(Fault) {
    var names = path.names
    var permissions = permissions
    if let place = try existing(names) {
      guard replacing else { throw Fault(.system(EEXIST)) }
      if place.attributes.kind == .folder { throw .isFolder }
      guard try place.provenance(.blocking) == nil else { throw .inView }
      permissions = place.attributes.permissions
      // What a link leads to is replaced, not the link.
      names = place.names
    }
    let (folder, name) = try parent(of: names)
    let passing = Self.passingName(for: name)
    let (entry, file) = try tree.create(
      passing, in: folder.node, flags: O_RDWR | O_EXCL, permissions: 0o666, by: Self.maker)
    defer { tree.forget(entry.node, 1) }
    do throws(Fault) {
      try fill(file)
      if let permissions {
        var changes = Tree.AttributeChanges()
        changes.permissions = permissions
        _ = try tree.change(entry.node, changes, of: file, for: nil)
      }
      try file.sync(onlyData: false, .blocking)
      try rename(passing, in: folder, to: name, in: folder, replacing: replacing)
    } catch {
      try? tree.remove(passing, in: folder.node, isFolder: false)
      throw error
    }
    try tree.openFolder(folder.node, .blocking).sync(onlyData: false, .blocking)
  }

  private static func passingName(for name: FileName) -> FileName {
    let suffix = ".\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    return FileName([UInt8(ascii: ".")] + name.bytes.prefix(254 - suffix.utf8.count) + Array(suffix.utf8))
  }
}

extension Tree.OpenFile {
  /// Writes all bytes from `offset` on, or with nil at the end. Blocks.
  fileprivate func append(_ bytes: [UInt8], at offset: Int64? = 0) throws(Fault) {
    var done = 0
    while done < bytes.count {
      try Interest.check()
      let part = bytes[done..<min(bytes.count, done + (8 << 20))]
      var fault: Fault?
      unsafe part.withUnsafeBytes { part in
        let place = offset.map { $0 + Int64(done) }
        do throws(Fault) { done += unsafe try write(part, at: place, for: nil) } catch { fault = error }
      }
      if let fault { throw fault }
    }
  }

  /// What is copied between two looks whether it is still wanted, in bytes.
  private static let step = 64 << 20

  fileprivate func copyAll(to target: Tree.OpenFile) throws(Fault) {
    do throws(Fault) { return try clone(to: target) } catch {}
    var offset: Int64 = 0
    do throws(Fault) {
      while case let count = try copy(
        from: offset, to: target, at: offset, count: Self.step, for: nil, .blocking), count > 0
      {
        offset += Int64(count)
        try Interest.check()
      }
      if offset > 0 || source.size == 0 { return }
    } catch {
      guard Self.cannotCopy.contains(where: { error.kind == .system($0) }) else { throw error }
    }
    while case let bytes = try waiting({ () throws(Fault) in try self.bytes(at: offset, count: 1 << 20) }),
      !bytes.isEmpty
    {
      try target.append(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }

  /// What copy_file_range(2) says where only the bytes can be copied.
  private static let cannotCopy = [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP]
}
