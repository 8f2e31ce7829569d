internal import CFuse3
internal import Glibc

/// The callbacks of `WritableFileSystem`.
extension Operations {
  /// Adds the callbacks to the table of a writable mount.
  static func addWriting(to table: inout fuse_lowlevel_ops) {
    addNames(to: &table)
    addFiles(to: &table)
    addLocks(to: &table)
  }

  private static func addNames(to table: inout fuse_lowlevel_ops) {
    unsafe table.mkdir = { request, folder, name, mode in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.makeFolder(Request(request), name, in: folder, mode: mode)
    }
    unsafe table.mknod = { request, folder, name, mode, device in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.makeNode(
        Request(request), name, in: folder, mode: mode, device: UInt64(device))
    }
    unsafe table.symlink = { request, target, folder, name in
      guard let request = unsafe request, let name = unsafe name, let target = unsafe target else { return }
      unsafe Operations.writable(request)?.makeLink(Request(request), name, to: target, in: folder)
    }
    unsafe table.link = { request, node, folder, name in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.link(Request(request), node, to: name, in: folder)
    }
    unsafe table.unlink = { request, folder, name in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.remove(Request(request), name, in: folder, isFolder: false)
    }
    unsafe table.rmdir = { request, folder, name in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.remove(Request(request), name, in: folder, isFolder: true)
    }
    unsafe table.rename = { request, folder, name, newFolder, newName, flags in
      guard let request = unsafe request, let name = unsafe name, let newName = unsafe newName else { return }
      unsafe Operations.writable(request)?.rename(
        Request(request), name, in: folder, to: newName, in: newFolder, flags: flags)
    }
    unsafe table.setattr = { request, node, status, changes, info in
      guard let request = unsafe request, let status = unsafe status else { return }
      let handle = unsafe info.flatMap { unsafe Operations.handle(request, $0) }
      // Like a write: see below.
      if unsafe info != nil, handle == nil, changes & FUSE_SET_ATTR_SIZE != 0 {
        return unsafe Request(request).reply(error: EIO)
      }
      unsafe Operations.writable(request)?.setAttributes(
        Request(request), node, RequestedAttributes(status.pointee, changes: changes), of: handle)
    }
    unsafe table.access = { request, node, wanted in
      guard let request = unsafe request else { return }
      unsafe Operations.writable(request)?.checkAccess(Request(request), node, wanted: wanted)
    }
    unsafe table.setxattr = { request, node, name, bytes, count, flags in
      guard let request = unsafe request, let name = unsafe name else { return }
      let value = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
      unsafe Operations.writable(request)?.setExtendedAttribute(
        Request(request), name, of: node, to: value, flags: flags)
    }
    unsafe table.removexattr = { request, node, name in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.writable(request)?.setExtendedAttribute(Request(request), name, of: node, to: nil, flags: 0)
    }
  }

  private static func addFiles(to table: inout fuse_lowlevel_ops) {
    unsafe table.open = { request, node, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      let flags = unsafe info.pointee.flags
      if flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 {
        return unsafe Operations.fileSystem(request).open(Request(request), node, flags: flags)
      }
      unsafe Operations.writable(request)?.openForWriting(Request(request), node, flags: flags)
    }
    unsafe table.create = { request, folder, name, mode, info in
      guard let request = unsafe request, let name = unsafe name, let info = unsafe info else { return }
      unsafe Operations.writable(request)?.create(
        Request(request), name, in: folder, mode: mode, flags: info.pointee.flags)
    }
    unsafe table.write = { request, _, bytes, count, offset, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
      // The flags of this write: those of an open file can change, and a write from a mapping has none.
      let appends = unsafe info.pointee.flags & O_APPEND != 0
      // A real file that cannot be reopened is not written.
      guard let handle = unsafe Operations.handle(request, info) else {
        return unsafe Request(request).reply(error: EIO)
      }
      unsafe Operations.writable(request)?.write(
        Request(request), handle, bytes, at: appends ? nil : Int64(offset))
    }
    unsafe table.flush = { request, node, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      let owner = unsafe info.pointee.lock_owner
      unsafe Operations.withWritable(request, node, info) { $0.flush($1, $2, owner: owner) }
    }
    unsafe table.fsync = { request, node, onlyData, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.withWritable(request, node, info) { $0.sync($1, $2, onlyData: onlyData != 0) }
    }
    unsafe table.fsyncdir = { request, node, onlyData, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.withWritable(request, node, info, isFolder: true) { $0.sync($1, $2, onlyData: onlyData != 0) }
    }
    unsafe table.fallocate = { request, node, mode, offset, count, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.withWritable(request, node, info) {
        $0.allocate($1, $2, mode: mode, offset: Int64(offset), count: Int64(count))
      }
    }
    unsafe table.copy_file_range = { request, _, offset, info, _, otherOffset, other, count, _ in
      guard let request = unsafe request, let info = unsafe info, let other = unsafe other else { return }
      guard let source = unsafe Operations.handle(request, info), let target = unsafe Operations.handle(request, other)
      else {
        // The kernel then reads and writes.
        return unsafe Request(request).reply(error: EXDEV)
      }
      unsafe Operations.writable(request)?.copy(
        Request(request), source, from: Int64(offset), to: target, at: Int64(otherOffset), count: count)
    }
  }

  private static func addLocks(to table: inout fuse_lowlevel_ops) {
    unsafe table.getlk = { request, node, info, lock in
      guard let request = unsafe request, let info = unsafe info, let lock = unsafe lock else { return }
      let (wanted, owner) = (unsafe RangeLock(lock.pointee), unsafe info.pointee.lock_owner)
      unsafe Operations.withWritable(request, node, info) { $0.lockInTheWay($1, $2, of: wanted, owner: owner) }
    }
    unsafe table.setlk = { request, node, info, lock, waits in
      guard let request = unsafe request, let info = unsafe info, let lock = unsafe lock else { return }
      let (wanted, owner) = (unsafe RangeLock(lock.pointee), unsafe info.pointee.lock_owner)
      unsafe Operations.withWritable(request, node, info) {
        $0.setLock($1, $2, wanted, owner: owner, waits: waits != 0)
      }
    }
    unsafe table.flock = { request, node, info, operation in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.withWritable(request, node, info) { $0.setLock($1, $2, whole: operation) }
    }
  }

  /// Calls `body` like `withOpened`, for a writable file system.
  private static func withWritable(
    _ request: fuse_req_t, _ node: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>, isFolder: Bool = false,
    _ body: @escaping @Sendable (any WritableFileSystem, consuming Request, AnyObject) -> Void
  ) {
    guard let writable = unsafe writable(request) else { return }
    unsafe withOpened(request, node, info, isFolder: isFolder) { _, request, handle in
      body(writable, request, handle)
    }
  }
}
