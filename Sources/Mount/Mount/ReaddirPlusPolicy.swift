internal import Locks
internal import Tree

/// The policy that decides which directory entries are returned with their nodes.
///
/// An entry with its node costs a few microseconds here and in the kernel. A node that the kernel has to look up
/// afterwards costs a round trip, ten times as much. `find` needs names and the nodes of directories, `ls -l` needs all
/// nodes, `ls` needs none. A process therefore gets its first entries with nodes, except for a few probes. Later
/// entries depend on what it looked up.
final class ReaddirPlusPolicy: Sendable {
  /// The entries of a reply that are returned with nodes, and the number that were.
  struct Choice {
    fileprivate var files = false
    fileprivate var folders = false
    /// Whether the process was seen to look up attributes. Otherwise, like a shell that expands `*`, it may start other
    /// programs, which would use estimates from the kernel's cache.
    fileprivate(set) var isProven = false
    /// The number of files returned without a node although the others have one. A process that needs nodes looks these
    /// up.
    fileprivate var probes = 0
    /// The numbers of files returned without and with a node.
    fileprivate(set) var bare = 0
    fileprivate(set) var nodes = 0

    /// The choice of names without nodes.
    static let names = Choice()

    /// Returns whether the next entry gets its node. Counts files.
    mutating func givesNode(to kind: Kind) -> Bool {
      if kind == .folder { return folders }
      guard files, probes == 0 else {
        probes = max(0, probes - 1)
        bare += 1
        return false
      }
      nodes += 1
      return true
    }
  }

  private struct Habit {
    var bare = 0
    var nodes = 0
    /// The numbers of nodes that the process looked up.
    var files = 0
    var folders = 0
    var isFirstFolder = true
    /// Whether the process continued with another directory without looking up entries of the previous one.
    var wantsNamesOnly = false

    /// Returns whether the process looks up more than one of `share` files.
    func wantsNodes(share: Int) -> Bool { files > 4 && files * share > bare }
    /// Whether the process walks a tree.
    var entersFolders: Bool { folders > 4 }

    mutating func add(_ given: Choice) {
      bare += given.bare
      nodes += given.nodes
    }

    /// Returns the choice for a process that has not been seen to need nodes.
    func choice(isStart: Bool, _ cost: AttributeCost) -> Choice {
      let isUnjudged = bare < probes
      let files =
        switch cost {
        case .none: !wantsNamesOnly
        case .small:
          // A process that walks a tree reveals its needs in the next directory.
          isUnjudged ? isStart : isFirstFolder && bare >= bareLimit && nodes < stakeLimit
        case .large: false
        }
      let folders =
        switch cost {
        case .none: files || entersFolders
        // Only the first ones in a large directory: others may be evicted before the process reaches them.
        case .small: files || entersFolders && isStart
        case .large: false
        }
      return Choice(files: files, folders: folders, probes: max(0, probes - bare))
    }
  }

  private let habits = UnfairLock<[Int32: Habit]>([:])

  private static let probes = 8
  /// The number of files without nodes in one directory after which nodes are returned. Looking up each of them
  /// later would cost the process too much.
  private static let bareLimit = 4096
  /// The maximum number of nodes for a process that has not looked up any, since nodes use memory.
  private static let stakeLimit = 65_536
  private static let remembered = 256
  /// The share of files that a process must look up to get nodes: one in eight, or one in two if nodes are expensive.
  private static let usualShare = 8
  private static let dearShare = 2

  /// Returns the choice for the next entries. Expensive attributes are returned only to processes that use most of
  /// them. `ls -l` and `cp` need all sizes of a message's files, `grep --include` needs one.
  func choice(for process: Int32, isStart: Bool, _ cost: AttributeCost) -> Choice {
    habits.withLock { habits in
      guard let index = habits.index(forKey: process) else { return Habit().choice(isStart: isStart, cost) }
      let habit = habits.values[index]
      if habit.wantsNodes(share: cost == .large ? Self.dearShare : Self.usualShare) {
        return Choice(files: true, folders: true, isProven: true)
      }
      if isStart {
        habits.values[index].isFirstFolder = false
        habits.values[index].wantsNamesOnly = habit.bare >= Self.probes
      }
      return habits.values[index].choice(isStart: isStart, cost)
    }
  }

  func note(_ given: Choice, to process: Int32) {
    habits.withLock { habits in
      if habits.count >= Self.remembered { habits.removeAll(keepingCapacity: true) }
      habits[process, default: Habit()].add(given)
    }
  }

  func noteLookup(of kind: Kind, by process: Int32) {
    habits.withLock { habits in
      // Only for processes that list directories: lookups of others are not evidence.
      guard let index = habits.index(forKey: process) else { return }
      if kind == .folder { habits.values[index].folders += 1 } else { habits.values[index].files += 1 }
    }
  }
}
