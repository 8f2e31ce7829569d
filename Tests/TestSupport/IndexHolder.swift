extension MountChild {
  /// A process that locks an index file until it is killed. Throws if it does not get the lock within five seconds.
  public static func holding(index path: String) async throws -> MountChild {
    let code = """
      import sqlite3, sys, time
      database = sqlite3.connect(sys.argv[1], isolation_level=None)
      database.execute("PRAGMA locking_mode = EXCLUSIVE")
      database.execute("BEGIN EXCLUSIVE")
      database.execute("UPDATE source SET usedAt = usedAt")
      print("holding", file=sys.stderr, flush=True)
      time.sleep(600)
      """
    let holder = try MountChild([MountScratch.python, "-c", code, path])
    for _ in 0..<1000 where !holder.saidSoFar.contains("holding") { try await Task.sleep(for: .milliseconds(5)) }
    guard holder.saidSoFar == "holding\n" else { throw MountChild.Failure("not held: \(holder.saidSoFar)") }
    return holder
  }
}
