internal import Bytes
public import FuseLink
internal import Tree

/// Creation, removal and renaming of real files and directories, only in a writable mount. Waits only for the source's
/// file system.
extension MountedTree {
  public func makeFolder(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32
  ) {
    let (name, maker) = (unsafe FileName(name), maker(request))
    make(request, in: folder) { [tree] (blocking) throws(Fault) in
      try tree.makeFolder(name, in: folder, permissions: UInt16(mode & 0o7777), by: maker, blocking)
    }
  }

  public func makeNode(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32, device: UInt64
  ) {
    let (name, maker) = (unsafe FileName(name), maker(request))
    make(request, in: folder) { [tree] (blocking) throws(Fault) in
      try tree.makeNode(name, in: folder, mode: mode, device: device, by: maker, blocking)
    }
  }

  public func makeLink(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, to target: UnsafePointer<CChar>, in folder: UInt64
  ) {
    let (name, target, maker) = (unsafe FileName(name), unsafe FileName(target), maker(request))
    make(request, in: folder) { [tree] (blocking) throws(Fault) in
      try tree.makeLink(name, to: target, in: folder, by: maker, blocking)
    }
  }

  public func link(_ request: consuming Request, _ node: UInt64, to name: UnsafePointer<CChar>, in folder: UInt64) {
    let (name, caller, record) = (unsafe FileName(name), caller(request), request.record)
    make(request, in: folder) { [tree] (blocking) throws(Fault) in
      try tree.link(node, to: name, in: folder, for: caller, record, blocking)
    }
  }

  public func remove(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, isFolder: Bool
  ) {
    let (tree, caller, name, record) = (tree, caller(request), unsafe FileName(name), request.record)
    answer(request, folder) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in
        try tree.remove(name, in: folder, isFolder: isFolder, for: caller, record, blocking)
      }
    } _: { request, _ in
      request.reply(error: 0)
    }
  }

  public func rename(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, to newName: UnsafePointer<CChar>,
    in newFolder: UInt64, flags: UInt32
  ) {
    let (tree, caller, name, newName) = (tree, caller(request), unsafe FileName(name), unsafe FileName(newName))
    let record = request.record
    answer(request, folder) { (blocking) throws(Fault) in
      try tree.rename(name, in: folder, to: newName, in: newFolder, flags: flags, for: caller, record, blocking)
    } _: { request, _ in
      request.reply(error: 0)
    }
  }

  public func create(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32, flags: Int32
  ) {
    let (tree, name, maker) = (tree, unsafe FileName(name), maker(request))
    answer(request, folder) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in
        try tree.create(name, in: folder, flags: flags, permissions: UInt16(mode & 0o7777), by: maker, blocking)
      }
    } undo: { entry, _ in
      tree.forget(entry.node, 1)
    } _: { [self] request, made in
      if !request.reply(node(made.0), handle: made.1, opening(made.1, flags)) { tree.forget(made.0.node, 1) }
    }
    trim()
  }

  private func make(
    _ request: consuming Request, in folder: UInt64,
    _ work: @escaping @Sendable (BlockingMode) throws(Fault) -> Tree.Entry
  ) {
    let tree = tree
    answer(request, folder) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in try work(blocking) }
    } undo: { entry in
      tree.forget(entry.node, 1)
    } _: { [self] request, entry in
      if !request.reply(node(entry)) { tree.forget(entry.node, 1) }
    }
    trim()
  }

  private func maker(_ request: borrowing Request) -> Tree.CreationContext {
    Tree.CreationContext(caller: caller(request), umask: UInt16(request.umask & 0o777), request.record)
  }
}
