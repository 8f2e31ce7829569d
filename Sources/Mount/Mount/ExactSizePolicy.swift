internal import Glibc
internal import Locks
internal import Synchronization

/// The policy that decides which stat calls get an exact size.
///
/// The size of a file that has not been generated yet is an estimate until it is opened. Programs that stat a file and
/// then read that many bytes need the exact size, for which the file has to be generated. Programs that list
/// directories do not. A stat does not reveal which kind of program it comes from, so this is inferred from the
/// process's earlier requests.
final class ExactSizePolicy: Sendable {
  private struct Habit {
    /// The program that the process ran when it listed a directory. `nil` if it has not listed any.
    var lister: String?
    /// Whether the process opened a file after requesting a size.
    var opens = false
    /// The number of sizes requested since then.
    var asked = 0
  }

  private let habits = UnfairLock<[Int32: Habit]>([:])
  /// Whether any size was requested. Checked without the lock at each open.
  private let isUsed = Atomic<Bool>(false)
  private let program: @Sendable (Int32) -> String

  private static let remembered = 256
  /// The maximum number of exact sizes for a process that has neither listed a directory nor opened a file. More would
  /// convert a whole directory for `ls -l *`.
  private static let trust = 1
  /// The maximum number for a process that has opened a file after a stat. Some processes stat twice before they open.
  private static let provenTrust = 2

  /// Creates a policy. `program` returns the name of the program that a process runs.
  init(program: @escaping @Sendable (Int32) -> String = { RunningProgram.name(of: $0) }) { self.program = program }

  /// Returns whether a size requested by `process` must be exact.
  func wantsExactSize(_ process: Int32) -> Bool {
    isUsed.store(true, ordering: .relaxed)
    return habits.withLock { habits in
      var habit = habits[process] ?? Habit()
      // A shell that expanded `*` has become the program it runs.
      if let lister = habit.lister, habit.asked == 0, lister != program(process) { habit = Habit() }
      habit.asked += 1
      note(habit, of: process, in: &habits)
      if habit.opens { return habit.asked <= Self.provenTrust }
      return habit.lister == nil && habit.asked <= Self.trust
    }
  }

  func noteListing(by process: Int32) {
    habits.withLock { habits in
      var habit = habits[process] ?? Habit()
      guard habit.lister == nil else { return }
      habit.lister = program(process)
      note(habit, of: process, in: &habits)
    }
  }

  func noteOpening(by process: Int32) {
    guard isUsed.load(ordering: .relaxed) else { return }
    habits.withLock { habits in
      guard let index = habits.index(forKey: process), habits.values[index].asked > 0 else { return }
      habits.values[index].opens = true
      habits.values[index].asked = 0
    }
  }

  private func note(_ habit: Habit, of process: Int32, in habits: inout [Int32: Habit]) {
    if habits.count >= Self.remembered { habits.removeAll(keepingCapacity: true) }
    habits[process] = habit
  }
}
