import Bytes
import Files
import Synchronization
import Tree

/// Folders that were found a moment ago, so that a path is not followed from the root for each file of one.
///
/// For as long as a kernel keeps what a mount tells it of names.
final class RecentFolders: Sendable {
  private typealias Folders = [ArraySlice<FileName>: (place: Place, until: UInt64)]

  private let folders = Mutex<Folders>([:])

  private static let most = 256

  subscript(path: ArraySlice<FileName>) -> Place? {
    let now = monotonicNanoseconds()
    return folders.withLock { folders in
      guard let known = folders[path], known.until > now else { return nil }
      return known.place
    }
  }

  var isEmpty: Bool { folders.withLock { $0.isEmpty } }

  func keep(_ place: Place, at path: ArraySlice<FileName>) {
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

  /// Lets go of what is too old, with its descriptors.
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
