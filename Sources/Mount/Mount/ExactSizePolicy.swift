internal import Glibc
internal import Synchronization

/// Tracks which processes are about to read the files they stat.
///
/// The size of a file that has not been generated yet is an estimate until it is opened. Programs that stat a file and
/// then read that many bytes need the exact size, for which the file has to be generated; programs that list folders do
/// not. A stat does not tell which kind of program it comes from, so this is inferred from what the process did before.
final class ExactSizePolicy: Sendable {
  private struct Habit {
    /// The program that listed a folder; nil if none did.
    var lister: String?
    /// Whether it opened a file after asking for a size.
    var opens = false
    /// How many sizes it has asked for since.
    var asked = 0
  }

  private let habits = Mutex<[Int32: Habit]>([:])
  /// Whether any size was asked for; checked without the lock at each open.
  private let isUsed = Atomic<Bool>(false)
  private let program: @Sendable (Int32) -> String

  private static let remembered = 256
  /// How many exact sizes a process that has not listed a folder gets before it opens something. More would convert a
  /// whole folder for `ls -l *`.
  private static let trust = 1
  /// The same for a process that was seen to open a file after a stat: some stat twice before they do.
  private static let provenTrust = 2

  /// `program` returns the name of the program that a process runs.
  init(program: @escaping @Sendable (Int32) -> String = { ExactSizePolicy.program(of: $0) }) { self.program = program }

  /// Whether a size that `process` asks for must be exact.
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

  /// The process's name from proc(5); empty if it cannot be read.
  static func program(of process: Int32) -> String {
    let descriptor = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = unsafe Glibc.read(descriptor, &name, name.count)
    return String(decoding: name.prefix(max(0, count)), as: UTF8.self)
  }
}
