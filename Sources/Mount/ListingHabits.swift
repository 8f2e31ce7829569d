internal import Synchronization

/// Which processes stat what they list.
///
/// A name with its node costs a system call below; a node that the kernel has to ask for afterwards costs a round trip, ten
/// times as much. `find` wants names alone, `ls -l` wants all of them: a process is given its first names with nodes, then
/// names alone, and nodes again once it was seen to ask.
final class ListingHabits: Sendable {
  private struct Habit {
    var bareNames = 0
    var nodes = 0
    var lookups = 0
    /// It went on to another folder without having asked for what it was shown.
    var wantsNamesOnly = false

    mutating func note(bare: Int, nodes: Int) {
      bareNames += bare
      self.nodes += nodes
    }

    /// Whether it asks for more than one of `share` names.
    func wantsNodes(share: Int) -> Bool { lookups > 4 && lookups * share > bareNames }
  }

  private let habits = Mutex<[Int32: Habit]>([:])

  /// After so many names without nodes in one folder the bet is off: too much would be lost on a process that asks later.
  private static let bareLimit = 4096
  /// Nor is more than this staked on one who has not asked for anything: nodes take memory.
  private static let stakeLimit = 65_536
  private static let remembered = 256
  /// Who asks for one in eight names wants nodes, for one in three where they are dear; `.` and `..` are names.
  private static let usualShare = 8
  private static let dearShare = 3

  /// Whether to give nodes with the next names. Those that are dear go to who asks for most: `ls -l` and `cp` want all sizes
  /// of a message's files, `grep --include` one of them.
  func wantsNodes(process: Int32, isStart: Bool, areDear: Bool) -> Bool {
    habits.withLock { habits in
      // Of one who has not listed before the first names come with nodes: little is lost on `find`, all is won by `ls -l`.
      guard let index = habits.index(forKey: process) else { return isStart && !areDear }
      if habits.values[index].wantsNodes(share: areDear ? Self.dearShare : Self.usualShare) { return true }
      if isStart && habits.values[index].bareNames > 0 { habits.values[index].wantsNamesOnly = true }
      let habit = habits.values[index]
      return !habit.wantsNamesOnly && habit.bareNames >= Self.bareLimit && habit.nodes < Self.stakeLimit
    }
  }

  func noteNames(bare: Int, nodes: Int, to process: Int32) {
    habits.withLock { habits in
      if habits.count >= Self.remembered { habits.removeAll(keepingCapacity: true) }
      habits[process, default: Habit()].note(bare: bare, nodes: nodes)
    }
  }

  func noteLookup(by process: Int32) {
    habits.withLock { habits in
      // Only those who list: everybody else's look-ups say nothing.
      if let index = habits.index(forKey: process) { habits.values[index].lookups += 1 }
    }
  }
}
