internal import Glibc
internal import Synchronization

/// Which processes are about to read what they stat.
///
/// The size of what has not been made yet is an estimate until somebody opens it. Programs that stat a file and then read as
/// many bytes as that said want the exact one, for which the file has to be made; who lists folders wants it of no file.
/// Nobody says which he is, so it is seen from what he did before.
final class SizeHabits: Sendable {
  private struct Habit {
    /// The program that listed a folder; nil: none did.
    var lister: String?
    /// Whether it opened a file after it had asked for a size.
    var opens = false
    /// How many sizes it has asked for since.
    var asked = 0
  }

  private let habits = Mutex<[Int32: Habit]>([:])
  /// Whether anybody has asked for any; for a look without the lock, at each open.
  private let isUsed = Atomic<Bool>(false)
  private let program: @Sendable (Int32) -> String

  private static let remembered = 256
  /// How many sizes one who has not listed a folder is told exactly before it opens something. More would convert a folder
  /// for `ls -l *`.
  private static let trust = 1
  /// And one who was seen to open a file behind it: some ask twice before they do.
  private static let provenTrust = 2

  /// `program` names what a process runs.
  init(program: @escaping @Sendable (Int32) -> String = { SizeHabits.program(of: $0) }) { self.program = program }

  /// Whether a size that `process` asks for is to be made exact.
  func wantsExactSize(_ process: Int32) -> Bool {
    isUsed.store(true, ordering: .relaxed)
    return habits.withLock { habits in
      var habit = habits[process] ?? Habit()
      // A shell expands `*` and becomes the program that it is for.
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

  /// What proc(5) calls it; empty where that is not to be known.
  static func program(of process: Int32) -> String {
    let descriptor = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = unsafe Glibc.read(descriptor, &name, name.count)
    return String(decoding: name.prefix(max(0, count)), as: UTF8.self)
  }
}
