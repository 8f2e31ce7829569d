internal import Bytes
internal import Files
internal import Locks
internal import SystemPackage

/// The unread changes in a directory, and the tasks that wait for one.
final class ChangeQueue: Sendable {
  typealias Outcome = Result<FileTree.Change?, FileTreeError>

  private struct State {
    var changes: [FileTree.Change] = []
    var taken = 0
    /// The result after the last change. `nil` while more changes can follow.
    var end: Outcome?
    var waiters: [(id: Int, continuation: CheckedContinuation<Outcome, Never>)] = []
    var lastID = 0
    /// The watch of the directory. `above` is the watch of its parent directory.
    var own: Int32?
    var above: Int32?
  }

  private let state = UnfairLock(State())
  private let path: FilePath
  /// The directory's name in its parent directory.
  private let name: FileName?
  private let announce: (@Sendable () -> Void)?

  /// The maximum number of unread changes.
  private static let most = 16384

  /// - Parameter announce: Called after changes, which are then not recorded.
  init(_ path: FilePath, _ name: FileName?, announce: (@Sendable () -> Void)? = nil) {
    self.path = path
    self.name = name
    self.announce = announce
  }

  deinit {
    end(.success(nil))
    let numbers = state.withLock { Set([$0.own, $0.above].compactMap { $0 }) }
    FolderWatcher.shared.remove(ObjectIdentifier(self), from: numbers)
  }

  /// Starts to record changes.
  func watch(_ folder: Int32) throws(Fault) {
    let number = try FolderWatcher.shared.add(self, folder)
    state.withLock { $0.own = number }
  }

  /// Starts to record a change of the directory's name, in its parent directory.
  func watchName(_ above: Int32) throws(Fault) {
    let number = try FolderWatcher.shared.add(self, above)
    state.withLock { $0.above = number }
  }

  // MARK: Recording notifications

  func take(_ notices: [FolderNotice]) {
    if let announce {
      let isSeen = notices.contains { notice in
        notice.isLost || notice.number == state.withLock({ $0.own }) && !TemporaryName.isOne(notice.name.bytes)
          || notice.number == state.withLock({ $0.above }) && notice.name == name
      }
      if isSeen { announce() }
      return
    }
    var resumed: [(CheckedContinuation<Outcome, Never>, Outcome)] = []
    state.withLock { state in
      guard state.end == nil else { return }
      // The two halves of a rename within the directory have the same cookie.
      var renamed: [UInt32: (from: FileName?, to: FileName?)] = [:]
      for notice in notices where notice.number == state.own && notice.cookie != 0 {
        if notice.events.contains(.movedFrom) { renamed[notice.cookie, default: (nil, nil)].from = notice.name }
        if notice.events.contains(.movedTo) { renamed[notice.cookie, default: (nil, nil)].to = notice.name }
      }
      for notice in notices where state.end == nil { note(notice, renamed, &state) }
      while !state.waiters.isEmpty, let outcome = Self.next(&state) {
        resumed.append((state.waiters.removeFirst().continuation, outcome))
      }
    }
    for (continuation, outcome) in resumed { continuation.resume(returning: outcome) }
  }

  private func note(
    _ notice: FolderNotice, _ renamed: [UInt32: (from: FileName?, to: FileName?)], _ state: inout State
  ) {
    if notice.isLost { add(.unknown, path, &state) }
    if notice.number == state.above, notice.name == name, !notice.events.isDisjoint(with: [.removed, .movedFrom]) {
      state.end = .failure(gone)
    }
    guard notice.number == state.own else { return }
    if case (let from?, let to?)? = renamed[notice.cookie] {
      if notice.events.contains(.movedTo) { add(.renamed, child(to), &state, from: child(from)) }
    } else if !notice.events.isDisjoint(with: .ends) {
      state.end = .failure(gone)
    } else if !notice.events.isDisjoint(with: [.created, .movedTo]) {
      add(.created, child(notice.name), &state)
    } else if !notice.events.isDisjoint(with: [.removed, .movedFrom]) {
      add(.removed, child(notice.name), &state)
    } else if notice.events.contains(.modified) {
      add(.modified, child(notice.name), &state)
    } else if notice.events.contains(.attributes) {
      add(.attributes, child(notice.name), &state)
    }
  }

  private var gone: FileTreeError {
    FileTreeError(.directoryNotFound, path: path, reason: "the folder was removed or renamed")
  }

  private func child(_ name: FileName) -> FilePath {
    if name.bytes.isEmpty { return path }
    return path.appending(FilePath([name]).components)
  }

  private func add(
    _ kind: FileTree.Change.Kind, _ path: FilePath, _ state: inout State, from oldPath: FilePath? = nil
  ) {
    let change = FileTree.Change(kind: kind, path: path, oldPath: oldPath)
    // A file that is being written is reported once, until that change is read.
    if state.taken < state.changes.count, state.changes.last == change { return }
    if state.changes.count - state.taken >= Self.most {
      (state.changes, state.taken) = ([FileTree.Change(kind: .unknown, path: self.path, oldPath: nil)], 0)
      return
    }
    state.changes.append(change)
  }

  // MARK: Reading changes

  private static func next(_ state: inout State) -> Outcome? {
    guard state.taken < state.changes.count else {
      // An error is thrown once.
      defer { if state.end != nil { state.end = .success(nil) } }
      return state.end
    }
    defer {
      state.taken += 1
      if state.taken == state.changes.count { (state.changes, state.taken) = ([], 0) }
    }
    return .success(state.changes[state.taken])
  }

  /// Ends the sequence for current and later readers.
  func end(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      if state.end == nil { state.end = outcome }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(returning: outcome) }
  }

  /// Returns the next change. Does not block a thread.
  func next(isolation: isolated (any Actor)?) async throws(FileTreeError) -> FileTree.Change? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let cancelled = FileTreeError(.cancelled, path: path, reason: "it was cancelled")
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
        let outcome = state.withLock { state -> Outcome? in
          // The handler may have been called already.
          if Task.isCancelled { return .failure(cancelled) }
          if let outcome = Self.next(&state) { return outcome }
          state.waiters.append((id, continuation))
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
      }
      waiter?.resume(returning: .failure(cancelled))
    }
    return try outcome.get()
  }
}
