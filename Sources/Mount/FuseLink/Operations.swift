internal import CFuse3
internal import Glibc

/// The C callbacks of `FileSystem`. Each finds the file system in libfuse's user pointer and calls one method.
enum Operations {
  /// Returns the callbacks, including those of `WritableFileSystem` if `isWritable`.
  static func table(isWritable: Bool) -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    unsafe table.`init` = { user, connection in
      guard let user = unsafe user, let connection = unsafe connection else { return }
      let fileSystem = unsafe Operations.fileSystem(user)
      unsafe Operations.negotiate(connection, with: fileSystem)
      fileSystem.started()
    }
    unsafe table.lookup = { request, parent, name in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.fileSystem(request).lookUp(Request(request), name, in: parent)
    }
    unsafe table.forget = { request, node, count in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).forget(node, count)
      unsafe fuse_reply_none(request)
    }
    unsafe table.forget_multi = { request, count, forgets in
      guard let request = unsafe request, let forgets = unsafe forgets else { return }
      let fileSystem = unsafe Operations.fileSystem(request)
      for index in 0..<count {
        let forget = unsafe forgets[index]
        fileSystem.forget(forget.ino, forget.nlookup)
      }
      unsafe fuse_reply_none(request)
    }
    unsafe table.getattr = { request, node, _ in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).attributes(Request(request), node)
    }
    unsafe table.readlink = { request, node in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).linkTarget(Request(request), node)
    }
    unsafe table.open = { request, node, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.fileSystem(request).open(Request(request), node, flags: info.pointee.flags)
    }
    unsafe table.read = { request, node, count, offset, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      unsafe Operations.withOpened(request, node, info) { fileSystem, request, handle in
        fileSystem.read(request, handle, offset: Int64(offset), count: count)
      }
    }
    unsafe table.lseek = { request, node, offset, whence, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      // The kernel sends only SEEK_DATA and SEEK_HOLE, whose constants are hidden behind _GNU_SOURCE.
      let isHole = whence == 4
      unsafe Operations.withOpened(request, node, info) { fileSystem, request, handle in
        fileSystem.seek(request, handle, offset: Int64(offset), toHole: isHole)
      }
    }
    unsafe table.release = { request, _, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      if let handle = unsafe Operations.handle(request, info) {
        unsafe Operations.fileSystem(request).noteReleased(handle)
      }
      unsafe Operations.handles(request).release(info.pointee.fh)
      unsafe Request(request).reply(error: 0)
    }
    unsafe table.opendir = { request, node, _ in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).openFolder(Request(request), node)
    }
    unsafe table.readdir = { request, node, capacity, offset, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      let cookie = UInt64(bitPattern: Int64(offset))
      unsafe Operations.withOpened(request, node, info, isFolder: true) { fileSystem, request, handle in
        fileSystem.readFolder(request, handle, after: cookie, capacity: capacity, wantsNodes: false)
      }
    }
    unsafe table.readdirplus = { request, node, capacity, offset, info in
      guard let request = unsafe request, let info = unsafe info else { return }
      let cookie = UInt64(bitPattern: Int64(offset))
      unsafe Operations.withOpened(request, node, info, isFolder: true) { fileSystem, request, handle in
        fileSystem.readFolder(request, handle, after: cookie, capacity: capacity, wantsNodes: true)
      }
    }
    unsafe table.releasedir = table.release
    unsafe table.getxattr = { request, node, name, capacity in
      guard let request = unsafe request, let name = unsafe name else { return }
      unsafe Operations.fileSystem(request).extendedAttribute(Request(request), name, of: node, capacity: capacity)
    }
    unsafe table.listxattr = { request, node, capacity in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).extendedAttributeNames(Request(request), node, capacity: capacity)
    }
    unsafe table.statfs = { request, _ in
      guard let request = unsafe request else { return }
      unsafe Operations.fileSystem(request).statistics(Request(request))
    }
    if isWritable { addWriting(to: &table) }
    return table
  }

  private static func negotiate(_ connection: UnsafeMutablePointer<fuse_conn_info>, with fileSystem: any FileSystem) {
    let capable = unsafe connection.pointee.capable
    // A default access list overrides the umask, which only the file system can determine.
    let unmasked = fileSystem.hasAccessLists && fileSystem.isWritable
    let own =
      (fileSystem.hasAccessLists ? [FUSE_CAP_POSIX_ACL] : []) + (unmasked ? [FUSE_CAP_DONT_MASK] : [])
      + (fileSystem.keepsHandles ? [FUSE_CAP_EXPORT_SUPPORT] : [])
    for wanted in own + [
      FUSE_CAP_SPLICE_WRITE, FUSE_CAP_PARALLEL_DIROPS, FUSE_CAP_READDIRPLUS,
      FUSE_CAP_AUTO_INVAL_DATA, FUSE_CAP_CACHE_SYMLINKS, FUSE_CAP_ASYNC_READ,
    ] where capable & UInt32(wanted) != 0 {
      unsafe connection.pointee.want |= UInt32(wanted)
    }
    // The kernel's own heuristic returns nodes only with the first entries of a directory. The file system's is better.
    unsafe connection.pointee.want &= ~UInt32(FUSE_CAP_READDIRPLUS_AUTO)
    // The maximum number of readahead requests in flight. The default of 12 leaves the connection idle. Requests to a
    // source that hangs must leave room for others.
    unsafe connection.pointee.max_background = 1024
  }

  private static func anchor(_ user: UnsafeMutableRawPointer) -> Session.Anchor {
    unsafe Unmanaged<Session.Anchor>.fromOpaque(user).takeUnretainedValue()
  }

  private static func fileSystem(_ user: UnsafeMutableRawPointer) -> any FileSystem { unsafe anchor(user).fileSystem }

  static func fileSystem(_ request: fuse_req_t) -> any FileSystem {
    // Passed to fuse_session_new, never nil.
    unsafe fileSystem(fuse_req_userdata(request)!)
  }

  /// Returns the file system, which is writable if the callbacks of writable ones are in the table.
  static func writable(_ request: fuse_req_t) -> (any WritableFileSystem)? {
    if let writable = unsafe anchor(fuse_req_userdata(request)!).writable { return writable }
    _ = unsafe fuse_reply_err(request, EROFS)
    return nil
  }

  static func slots(_ request: fuse_req_t) -> RequestSlots? { unsafe anchor(fuse_req_userdata(request)!).slots }

  static func handles(_ request: fuse_req_t) -> Handles { unsafe anchor(fuse_req_userdata(request)!).handles }

  /// Calls `body` with the object of a handle. Reopens it if an earlier process had it open.
  static func withOpened(
    _ request: fuse_req_t, _ node: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>, isFolder: Bool = false,
    _ body: @escaping @Sendable (any FileSystem, consuming Request, AnyObject) -> Void
  ) {
    let fileSystem = unsafe fileSystem(request)
    let handles = unsafe handles(request)
    let number = unsafe info.pointee.fh
    if let known = handles[number] { return unsafe body(fileSystem, Request(request), known) }
    unsafe fileSystem.openAgain(Request(request), node, isFolder: isFolder) { request, opened in
      handles.adopt(number, opened)
      body(fileSystem, request, opened)
    }
  }

  /// Returns the object of a handle. Returns `nil` if an earlier process opened it and this one has not.
  static func handle(_ request: fuse_req_t, _ info: UnsafeMutablePointer<fuse_file_info>) -> AnyObject? {
    unsafe handles(request)[info.pointee.fh]
  }
}
