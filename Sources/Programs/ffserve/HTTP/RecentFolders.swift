import Bytes
import Files
import Locks
import Tree

/// A cache of recently looked up directories, so that paths of several files in one are not followed from the root each
/// time.
///
/// Its lifetime equals that of the kernel's cache of names in a mount.
final class RecentFolders: Sendable {
  private typealias Folders = [ArraySlice<FileName>: (place: ResolvedPath, until: UInt64)]

  private struct State {
    var folders: Folders = [:]
    /// The number of changes by this server.
    var changes = 0
  }

  private let held = UnfairLock(State())

  private static let most = 256

  subscript(path: ArraySlice<FileName>) -> ResolvedPath? {
    let now = monotonicNanoseconds()
    return held.withLock { state in
      guard let known = state.folders[path], known.until > now else { return nil }
      return known.place
    }
  }

  var isEmpty: Bool { held.withLock { $0.folders.isEmpty } }

  /// The number of the state of the tree in which a directory is looked up.
  var state: Int { held.withLock { $0.changes } }

  /// Drops all directories, after a change.
  func forget() {
    // Released outside the lock.
    let dropped = held.withLock { state in
      defer { state = State(changes: state.changes + 1) }
      return state
    }
    _ = dropped
  }

  /// Stores a directory if the tree has not been changed since the lookup began.
  func keep(_ place: ResolvedPath, at path: ArraySlice<FileName>, of begun: Int) {
    let until = monotonicNanoseconds() + RecentAnswers.lifetime
    // Released outside the lock.
    let dropped = held.withLock { state -> Folders in
      guard state.changes == begun else { return [:] }
      let dropped = state.folders.count >= Self.most ? state.folders : [:]
      if !dropped.isEmpty { state.folders = [:] }
      state.folders[path] = (place, until)
      return dropped
    }
    _ = dropped
  }

  /// Drops expired directories and their descriptors.
  func tidy() {
    let now = monotonicNanoseconds()
    // Released outside the lock.
    let dropped = held.withLock { state in
      let old = state.folders.filter { $0.value.until <= now }
      for path in old.keys { state.folders[path] = nil }
      return old
    }
    _ = dropped
  }
}
