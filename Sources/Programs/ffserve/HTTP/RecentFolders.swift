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

  private let folders = UnfairLock<Folders>([:])

  private static let most = 256

  subscript(path: ArraySlice<FileName>) -> ResolvedPath? {
    let now = monotonicNanoseconds()
    return folders.withLock { folders in
      guard let known = folders[path], known.until > now else { return nil }
      return known.place
    }
  }

  var isEmpty: Bool { folders.withLock { $0.isEmpty } }

  func keep(_ place: ResolvedPath, at path: ArraySlice<FileName>) {
    let until = monotonicNanoseconds() + RecentAnswers.lifetime
    // Released outside the lock.
    let dropped = folders.withLock { folders in
      let dropped = folders.count >= Self.most ? folders : [:]
      if !dropped.isEmpty { folders = [:] }
      folders[path] = (place, until)
      return dropped
    }
    _ = dropped
  }

  /// Drops expired directories and their descriptors.
  func tidy() {
    let now = monotonicNanoseconds()
    // Released outside the lock.
    let dropped = folders.withLock { folders in
      let old = folders.filter { $0.value.until <= now }
      for path in old.keys { folders[path] = nil }
      return old
    }
    _ = dropped
  }
}
