internal import Synchronization
internal import Tree

/// Which processes stat what they list.
///
/// A name with its node costs a few microseconds here and in the kernel; a node that the kernel has to ask for afterwards
/// costs a round trip, ten times as much. `find` wants names and the nodes of folders, `ls -l` wants all nodes, `ls` none. So
/// a process is given its first names with nodes, but for a few, and then what it was seen to ask for.
final class ListingHabits: Sendable {
  /// Which names of an answer come with nodes, and what came of that.
  struct Choice {
    fileprivate var files = false
    fileprivate var folders = false
    /// Whether the process was seen to want attributes: who is not, a shell that expands `*` say, has others started right
    /// behind it that would take estimates from the kernel's cache.
    fileprivate(set) var isProven = false
    /// How many files come without one although the others do: whoever wants nodes asks for them.
    fileprivate var probes = 0
    /// Files given without and with a node.
    fileprivate(set) var bare = 0
    fileprivate(set) var nodes = 0

    /// Nothing with a node.
    static let names = Choice()

    /// Whether the next name comes with one.
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
    /// How many nodes it asked for.
    var files = 0
    var folders = 0
    var isFirstFolder = true
    /// It went on to another folder without having asked for what it was shown.
    var wantsNamesOnly = false

    /// Whether it asks for more than one of `share` files.
    func wantsNodes(share: Int) -> Bool { files > 4 && files * share > bare }
    /// Whether it walks a tree.
    var entersFolders: Bool { folders > 4 }

    mutating func add(_ given: Choice) {
      bare += given.bare
      nodes += given.nodes
    }

    /// For one who has not been seen to want nodes.
    func choice(isStart: Bool, _ cost: AttributeCost) -> Choice {
      let isUnjudged = bare < probes
      let files =
        switch cost {
        case .none: !wantsNamesOnly
        case .small:
          // Who walks a tree will show in the next folder what it wants.
          isUnjudged ? isStart : isFirstFolder && bare >= bareLimit && nodes < stakeLimit
        case .large: false
        }
      let folders =
        switch cost {
        case .none: files || entersFolders
        // Of a large folder the first ones: others may be forgotten again before it comes to them.
        case .small: files || entersFolders && isStart
        case .large: false
        }
      return Choice(files: files, folders: folders, probes: max(0, probes - bare))
    }
  }

  private let habits = Mutex<[Int32: Habit]>([:])

  private static let probes = 8
  /// After so many files without nodes in one folder the bet is off: too much would be lost on a process that asks later.
  private static let bareLimit = 4096
  /// Nor is more than this staked on one who has not asked for anything: nodes take memory.
  private static let stakeLimit = 65_536
  private static let remembered = 256
  /// Who asks for one in eight files wants nodes, for most where they are dear.
  private static let usualShare = 8
  private static let dearShare = 2

  /// What to give with the next names. Attributes that are dear go to who asks for most: `ls -l` and `cp` want all sizes of
  /// a message's files, `grep --include` one of them.
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
      // Only those who list: everybody else's look-ups say nothing.
      guard let index = habits.index(forKey: process) else { return }
      if kind == .folder { habits.values[index].folders += 1 } else { habits.values[index].files += 1 }
    }
  }
}
