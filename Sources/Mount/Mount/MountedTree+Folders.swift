internal import Bytes
public import FuseLink
internal import Glibc
internal import Tree

/// Opening and listing directories.
extension MountedTree {
  public func openFolder(_ request: consuming Request, _ node: UInt64) {
    let tree = tree
    let caller = caller(request)
    let (thread, copyPrograms) = (request.process, options.copyPrograms)
    answer(request, node) { (blocking) throws(Fault) in
      try tree.openFolder(node, for: caller, hasViews: { !copyPrograms.run(thread) }, blocking)
    } _: { request, reader in
      request.reply(handle: reader, .init(keepsCache: reader.keepsCache, cachesListing: reader.isCacheable))
    }
  }

  public func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool
  ) {
    guard let reader = handle as? DirectoryHandle else { return request.reply(error: EBADF) }
    if cookie == 0 { sizeHabits.noteListing(by: request.process) }
    let choice =
      wantsNodes
      ? habits.choice(for: request.process, isStart: cookie == 0, reader.attributeCost) : ReaddirPlusPolicy.Choice.names
    let user = caller(request)
    do throws(Fault) {
      var entries = EntryBuffer(capacity: capacity, isPlus: wantsNodes)
      let given = try fill(&entries, from: reader, after: cookie, for: user, choice, .immediate)
      reply(request, entries, given)
      return reader.prepare()
    } catch {
      guard error.isDelay else { return fail(request, error, reader.folder) }
      let caller = park(request, isReal: tree.isReal(reader.folder))
      again(caller, after: error, reader.folder) { [self] () throws(Fault) in
        var entries = EntryBuffer(capacity: capacity, isPlus: wantsNodes)
        let given = try fill(&entries, from: reader, after: cookie, for: user, choice, .blocking)
        if let request = caller.take() {
          reply(request, entries, given)
        } else {
          entries.drop { tree.forget($0, 1) }
        }
      }
    }
  }

  private func reply(
    _ request: consuming Request, _ entries: consuming EntryBuffer, _ given: ReaddirPlusPolicy.Choice
  ) {
    let tree = tree
    habits.note(given, to: request.process)
    request.reply(entries) { tree.forget($0, 1) }
    trim()
  }

  private func fill(
    _ entries: inout EntryBuffer, from reader: DirectoryHandle, after cookie: UInt64, for caller: Credentials?,
    _ choice: ReaddirPlusPolicy.Choice, _ blocking: BlockingMode
  ) throws(Fault) -> ReaddirPlusPolicy.Choice {
    var choice = choice
    try Credentials.running(as: caller) { () throws(Fault) in
      try fill(&entries, from: reader, after: cookie, for: caller, &choice, blocking)
    }
    return choice
  }

  private func fill(
    _ entries: inout EntryBuffer, from reader: DirectoryHandle, after cookie: UInt64, for caller: Credentials?,
    _ choice: inout ReaddirPlusPolicy.Choice, _ blocking: BlockingMode
  ) throws(Fault) {
    try reader.read(after: cookie, for: caller, blocking) { (row, entry) throws(Fault) in
      guard entries.hasRoom(nameCount: row.name.count) else { return false }
      var named = stat()
      named.st_ino = ino_t(row.inode)
      named.st_mode = row.kind.mode
      // `.`, `..` and names whose attributes cannot be read have no node. A name that has just vanished is omitted.
      var isOnlyNamed = row.cookie <= 2 || !choice.givesNode(to: row.kind)
      var found: Tree.Entry?
      if !isOnlyNamed {
        do throws(Fault) { found = try entry() } catch {
          guard error.allowsName else { throw error }
          isOnlyNamed = true
        }
      }
      if let entry = found, entry.attributes.isPreliminary, options.sizesAreExact || !choice.isProven {
        // The kernel looks it up by name if needed.
        tree.forget(entry.node, 1)
        isOnlyNamed = true
      }
      if isOnlyNamed {
        unsafe row.name.withCString { unsafe entries.append($0, named, cookie: row.cookie) }
      } else if let entry = found {
        unsafe row.name.withCString { unsafe entries.append($0, node(entry), cookie: row.cookie) }
      }
      return true
    }
  }
}
