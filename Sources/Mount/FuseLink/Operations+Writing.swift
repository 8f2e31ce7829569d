internal import CFuse3
internal import Glibc

/// The callbacks of `WritableFileSystem`.
extension Operations {
  /// Adds them to the table of a mount that can be written.
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
      let handle = unsafe info.map { unsafe Operations.handle($0) }
      unsafe Operations.writable(request)?.setAttributes(
        Request(request), node, AttributeWish(status.pointee, changes: changes), of: handle)
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
      // Those of this write: the flags of an open file can be changed, and what a map wrote has none.
      let appends = unsafe info.pointee.flags & O_APPEND != 0
      unsafe Operations.writable(request)?.write(
        Request(request), Operations.handle(info), bytes, at: appends ? nil : Int64(offset))
    }
    unsafe table.flush = { request, _, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.writable(request)?.flush(
        Request(request), Operations.handle(info), owner: info.pointee.lock_owner)
    }
    unsafe table.fsync = { request, _, onlyData, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.writable(request)?.sync(Request(request), Operations.handle(info), onlyData: onlyData != 0)
    }
    unsafe table.fsyncdir = table.fsync
    unsafe table.fallocate = { request, _, mode, offset, count, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.writable(request)?.allocate(
        Request(request), Operations.handle(info), mode: mode, offset: Int64(offset), count: Int64(count))
    }
    unsafe table.copy_file_range = { request, _, offset, info, _, otherOffset, other, count, _ in
      guard let request = unsafe request, let info = unsafe info, let other = unsafe other else { return }
      unsafe Operations.writable(request)?.copy(
        Request(request), Operations.handle(info), from: Int64(offset), to: Operations.handle(other),
        at: Int64(otherOffset), count: count)
    }
  }

  private static func addLocks(to table: inout fuse_lowlevel_ops) {
    unsafe table.getlk = { request, _, info, lock in
      guard let request = unsafe request, let info = unsafe info, let lock = unsafe lock else { return }
      unsafe Operations.writable(request)?.lockInTheWay(
        Request(request), Operations.handle(info), of: RangeLock(lock.pointee), owner: info.pointee.lock_owner)
    }
    unsafe table.setlk = { request, _, info, lock, waits in
      guard let request = unsafe request, let info = unsafe info, let lock = unsafe lock else { return }
      unsafe Operations.writable(request)?.setLock(
        Request(request), Operations.handle(info), RangeLock(lock.pointee), owner: info.pointee.lock_owner,
        waits: waits != 0)
    }
    unsafe table.flock = { request, _, info, operation in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.writable(request)?.setLock(Request(request), Operations.handle(info), whole: operation)
    }
  }

  /// The file system, which is one that can be written if these callbacks are in the table.
  private static func writable(_ request: fuse_req_t) -> (any WritableFileSystem)? {
    let fileSystem = unsafe fileSystem(request)
    if let writable = fileSystem as? any WritableFileSystem { return writable }
    _ = unsafe fuse_reply_err(request, EROFS)
    return nil
  }
}
