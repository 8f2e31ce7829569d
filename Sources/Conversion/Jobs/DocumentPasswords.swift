internal import Bytes
internal import Catalogue
internal import Locks

/// The user's passwords that are known to open documents.
final class DocumentPasswords: Sendable {
  private let passwords: Passwords
  private let state = UnfairLock(State())

  private struct State {
    /// The edition of the passwords that `found` is about.
    var edition: UInt64 = 0
    /// The passwords by state of the document. Empty if none opens it.
    var found: [UInt64: [[UInt8]]] = [:]
  }

  private static let mostFound = 16384

  init(_ passwords: Passwords) { self.passwords = passwords }

  /// Whether no passwords exist, now or in the future.
  var areNone: Bool { passwords.areNone }

  /// Returns the passwords that are known to open a document. Returns `nil` if they have not been searched for.
  func found(for revision: UInt64) -> [[UInt8]]? {
    areNone ? nil : state.withLock { $0.found[revision] }
  }

  /// Returns whether the user's passwords have changed. If so, discards all that is known. May block.
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

  /// Returns the passwords for a locked document. `attempt` tests some passwords at a time and returns those that open
  /// it.
  ///
  /// - Parameter wantsOne: Whether the search ends with the first match.
  func find<Failure: Error>(
    for revision: UInt64, wantsOne: Bool, _ attempt: ([[UInt8]]) throws(Failure) -> [[UInt8]]
  ) throws(Failure) -> [[UInt8]] {
    if areNone { return [] }
    let edition = passwords.now
    if let known = state.withLock({ $0.edition == edition.number ? $0.found[revision] : nil }) { return known }
    // Passwords that opened other documents are tested first.
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
      // Every job contains all of these passwords.
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

  /// The maximum size of a password, in bytes. PDF uses no more than 127; those of ZIP are not relevant here.
  private static let longest = 512
}
