internal import Synchronization

/// Which processes are about to read what they stat.
///
/// The size of what has not been made yet is an estimate until somebody opens it. Programs that stat a file and then read as
/// many bytes as that said want the exact one, for which the file has to be made; who lists folders wants it of no file.
/// Nobody says which he is, so it is seen from what he did before.
final class SizeHabits: Sendable {
  private struct Habit {
    var listsFolders = false
    /// Whether it opened what it had asked the size of.
    var opens = false
    /// How many sizes it has asked for since.
    var asked = 0
  }

  private let habits = Mutex<[Int32: Habit]>([:])

  private static let remembered = 256
  /// How many sizes one who has not listed a folder is told exactly before it opens something. More would convert a folder
  /// for `ls -l *`.
  private static let trust = 1
  /// And one who was seen to open what it asked about: some ask twice before they do.
  private static let provenTrust = 2

  /// Whether a size that `process` asks for is to be made exact.
  func wantsExactSize(_ process: Int32) -> Bool {
    habits.withLock { habits in
      if habits.count >= Self.remembered { habits.removeAll(keepingCapacity: true) }
      var habit = habits[process] ?? Habit()
      habit.asked += 1
      habits[process] = habit
      if habit.opens { return habit.asked <= Self.provenTrust }
      return !habit.listsFolders && habit.asked <= Self.trust
    }
  }

  func noteListing(by process: Int32) {
    habits.withLock { habits in
      if habits.count >= Self.remembered { habits.removeAll(keepingCapacity: true) }
      habits[process, default: Habit()].listsFolders = true
    }
  }

  /// Of a file whose size was an estimate.
  func noteOpening(by process: Int32) {
    habits.withLock { habits in
      guard let index = habits.index(forKey: process), habits.values[index].asked > 0 else { return }
      habits.values[index].opens = true
      habits.values[index].asked = 0
    }
  }
}
