internal import Foundation
internal import Synchronization

/// Runs blocking code on a thread that no test needs; not cancelled with the test. Expectations in it count for their
/// test.
public func offThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await Task(executorPreference: OwnThreads.shared) { body() }.value
}

/// Runs `body` on `count` threads at a time; throws the first failure. Expectations in it count for their test. `body`
/// has been released when this returns.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  let held = HeldBody(body)
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    let run: @Sendable () -> Void = {
      do { try held.run(index) } catch { failure.withLock { $0 = $0 ?? error } }
      group.leave()
    }
    Task(executorPreference: OwnThreads.shared) { run() }
  }
  group.wait()
  held.letGo()
  if let error = failure.withLock({ $0 }) { throw error }
}

/// Runs each task on a new thread, where it may block.
///
/// Expectations on a bare thread belong to no test: the testing library identifies a test by a task-local value, which
/// tasks started in it inherit and threads do not.
private final class OwnThreads: TaskExecutor {
  static let shared = OwnThreads()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }.start()
  }
}

/// A closure that can be released early: a task releases its own some time after it has run.
private final class HeldBody: Sendable {
  private let body: Mutex<(@Sendable (Int) throws -> Void)?>

  init(_ body: @escaping @Sendable (Int) throws -> Void) { self.body = Mutex(body) }

  func run(_ index: Int) throws { try body.withLock { $0 }?(index) }
  func letGo() { body.withLock { $0 = nil } }
}
