internal import Bytes
internal import Catalogue
internal import Synchronization

/// Which of the user's passwords open which documents, as far as that was found out.
final class DocumentPasswords: Sendable {
  private let passwords: Passwords
  private let state = Mutex(State())

  private struct State {
    /// Of the passwords that this is about.
    var edition: UInt64 = 0
    /// By the document's state; empty: none fits.
    var found: [UInt64: [[UInt8]]] = [:]
  }

  private static let mostFound = 16384

  init(_ passwords: Passwords) { self.passwords = passwords }

  /// Whether there will never be any.
  var areNone: Bool { passwords.areNone }

  /// Those known to open a document; nil when none was sought.
  func found(for revision: UInt64) -> [[UInt8]]? {
    areNone ? nil : state.withLock { $0.found[revision] }
  }

  /// Whether the user has others by now: then nothing is known any more. May block.
  func haveChanged() -> Bool {
    if areNone { return false }
    let edition = passwords.now.number
    return state.withLock { state in
      if state.edition == edition { return false }
      state.edition = edition
      state.found = [:]
      return true
    }
  }

  /// The passwords for a document that is locked: those that `attempt` finds among some at a time.
  ///
  /// - Parameter wantsOne: whether the first one that is found will do.
  func find<Failure: Error>(
    for revision: UInt64, wantsOne: Bool, _ attempt: ([[UInt8]]) throws(Failure) -> [[UInt8]]
  ) throws(Failure) -> [[UInt8]] {
    if areNone { return [] }
    let edition = passwords.now
    if let known = state.withLock({ $0.edition == edition.number ? $0.found[revision] : nil }) { return known }
    // What opened others first.
    let last = state.withLock { state in state.found.values.first { !$0.isEmpty } } ?? []
    let others = edition.passwords.filter { !$0.contains(0) && $0.count <= Self.longest && !last.contains($0) }
    var rest = (last.filter { edition.passwords.contains($0) } + others)[...]
    var found: [[UInt8]] = []
    while !rest.isEmpty, !(wantsOne && !found.isEmpty) {
      var room = Job.passwordLimit
      let some = rest.prefix { password in
        room -= password.count + 1
        return room >= 0
      }
      rest = rest.dropFirst(some.count)
      // All of them go with every job.
      for password in try attempt(Array(some)) where size(of: found) + password.count < Job.passwordLimit {
        found.append(password)
      }
    }
    state.withLock { state in
      guard state.edition == edition.number else { return }
      if state.found.count >= Self.mostFound { state.found = [:] }
      state.found[revision] = found
    }
    return found
  }

  private func size(of passwords: [[UInt8]]) -> Int { passwords.reduce(0) { $0 + $1.count + 1 } }

  /// Of PDF no more than 127 count; ZIP's are no matter here.
  private static let longest = 512
}
