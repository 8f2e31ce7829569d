internal import Bytes
public import FuseLink
internal import Glibc
internal import Locks
internal import Tree

/// Lookups, attributes and statistics.
extension MountedTree {
  public func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64) {
    let name = unsafe FileName(name)
    let tree = tree
    let caller = caller(request)
    answer(request, folder, mayWaitForViews: true) { (blocking) throws(Fault) -> Tree.Entry? in
      do throws(Fault) { return try tree.lookUp(name, in: folder, for: caller, blocking) } catch {
        guard error.kind == .system(ENOENT), tree.mayRemember(absent: name, in: folder) else { throw error }
        return nil
      }
    } undo: { entry in
      if let entry { tree.forget(entry.node, 1) }
    } _: { [self] request, entry in
      guard let entry else { return request.replyAbsent(lifetime: Tree.volatileLifetime) }
      habits.noteLookup(of: entry.attributes.kind, by: request.process)
      if !request.reply(node(entry)) { tree.forget(entry.node, 1) }
    }
    trim()
  }

  public func forget(_ node: UInt64, _ count: UInt64) { tree.forget(node, count) }

  public func attributes(_ request: consuming Request, _ node: UInt64) {
    let tree = tree
    let effort = sizeEffort(for: request.process)
    let caller = caller(request)
    answer(request, node) { (blocking) throws(Fault) in
      let found = try tree.attributes(node, for: caller, blocking)
      guard found.0.isPreliminary else { return found }
      try tree.findSize(of: node, effort(), blocking)
      return try tree.attributes(node, for: caller, blocking)
    } _: { request, found in
      if found.followsEstimate, !found.0.isPreliminary { tree.noteExactSize(of: node, toldTo: request.process) }
      request.reply(stat(found.0), lifetime: found.lifetime)
    }
  }

  public func linkTarget(_ request: consuming Request, _ node: UInt64) {
    let (tree, caller) = (tree, caller(request))
    answer(request, node) { (blocking) throws(Fault) in
      try tree.linkTarget(node, for: caller, blocking)
    } _: { request, target in
      request.reply(linkTarget: target)
    }
  }

  private static let errorAttribute: FileName = "user.ffmount.error"

  public func extendedAttribute(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int
  ) {
    let name = unsafe FileName(name)
    if node == Tree.root, [0, geteuid()].contains(request.user), let value = options.ownAttribute(name) {
      return request.reply(attribute: value, capacity: capacity)
    }
    if name == Self.errorAttribute, let refusal = options.refusal(node) {
      return request.reply(attribute: Array(refusal.utf8), capacity: capacity)
    }
    let (tree, caller) = (tree, caller(request))
    answer(request, node) { (blocking) throws(Fault) in
      try tree.extendedAttribute(name, of: node, for: caller, blocking)
    } _: { request, value in
      request.reply(attribute: value, capacity: capacity)
    }
  }

  public func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int) {
    let tree = tree
    let caller = caller(request)
    answer(request, node) { (blocking) throws(Fault) in
      try tree.extendedAttributeNames(node, for: caller, blocking)
    } _: { request, names in
      request.reply(attribute: names, capacity: capacity)
    }
  }

  public func statistics(_ request: consuming Request) {
    if let root = options.root {
      do throws(Fault) { request.reply(try root.statistics()) } catch { request.reply(error: error.errno) }
      return
    }
    let space = options.space
    // The node is the root.
    answer(request, 1, mayWaitForViews: true) { (blocking) throws(Fault) in
      try space(blocking)
    } _: { request, space in
      request.reply(available: space?.available ?? 0, used: space?.used ?? 0)
    }
  }

  /// Returns the effort for the sizes that a process requests. It is decided at most once, even if the request is
  /// retried.
  private func sizeEffort(for process: Int32) -> @Sendable () -> Tree.SizeEffort {
    if options.sizesAreExact { return { .any } }
    let answer = UnfairLock<Tree.SizeEffort?>(nil)
    return { [sizeHabits, players = options.players] in
      answer.withLock { known in
        if let known { return known }
        let wants = sizeHabits.wantsExactSize(process)
        let effort: Tree.SizeEffort =
          if ExactSizePrograms.runs(process) { .any } else if wants, !players.run(process) { .making } else { .look }
        known = effort
        return effort
      }
    }
  }
}
