internal import Synchronization
internal import Tree

/// Tracks which processes stat the entries they list.
///
/// An entry with its node costs a few microseconds here and in the kernel; a node that the kernel has to look up
/// afterwards costs a round trip, ten times as much. `find` wants names and the nodes of folders, `ls -l` wants all
/// nodes, `ls` none. So a process gets its first entries with nodes, except for a few probes, and later ones according
/// to what it looked up.
final class ReaddirPlusPolicy: Sendable {
  /// Which entries of a reply come with nodes, and how many did.
  struct Choice {
    fileprivate var files = false
    fileprivate var folders = false
    /// Whether the process was seen to look up attributes. If not, as for a shell that expands `*`, it may start other
    /// programs that would take estimates from the kernel's cache.
    fileprivate(set) var isProven = false
    /// How many files come without a node although the others have one: a process that wants nodes looks these up.
    fileprivate var probes = 0
    /// Files returned without and with a node.
    fileprivate(set) var bare = 0
    fileprivate(set) var nodes = 0

    /// No entry with a node.
    static let names = Choice()

    /// Whether the next entry comes with its node.
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
    /// How many nodes the process looked up.
    var files = 0
    var folders = 0
    var isFirstFolder = true
    /// The process continued with another folder without looking up what it was shown.
    var wantsNamesOnly = false

    /// Whether it looks up more than one of `share` files.
    func wantsNodes(share: Int) -> Bool { files > 4 && files * share > bare }
    /// Whether it walks a tree.
    var entersFolders: Bool { folders > 4 }

    mutating func add(_ given: Choice) {
      bare += given.bare
      nodes += given.nodes
    }

    /// The choice for a process that has not been seen to want nodes.
    func choice(isStart: Bool, _ cost: AttributeCost) -> Choice {
      let isUnjudged = bare < probes
      let files =
        switch cost {
        case .none: !wantsNamesOnly
        case .small:
          // A process that walks a tree shows in the next folder what it wants.
          isUnjudged ? isStart : isFirstFolder && bare >= bareLimit && nodes < stakeLimit
        case .large: false
        }
      let folders =
        switch cost {
        case .none: files || entersFolders
        // In a large folder only the first ones: others may be evicted before the process gets to them.
        case .small: files || entersFolders && isStart
        case .large: false
        }
      return Choice(files: files, folders: folders, probes: max(0, probes - bare))
    }
  }

  private let habits = Mutex<[Int32: Habit]>([:])

  private static let probes = 8
  /// After this many files without nodes in one folder, nodes are returned: a process that looks them up later would
  /// lose too much.
  private static let bareLimit = 4096
  /// At most this many nodes for a process that has not looked up any: nodes take memory.
  private static let stakeLimit = 65_536
  private static let remembered = 256
  /// A process that looks up one in eight files wants nodes, or one in two where they are expensive.
  private static let usualShare = 8
  private static let dearShare = 2

  /// The choice for the next entries. Expensive attributes are returned only to processes that look up most of them:
  /// `ls -l` and `cp` want all sizes of a message's files, `grep --include` one of them.
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
      // Only for processes that list folders: lookups of others are not evidence.
      guard let index = habits.index(forKey: process) else { return }
      if kind == .folder { habits.values[index].folders += 1 } else { habits.values[index].files += 1 }
    }
  }
}
