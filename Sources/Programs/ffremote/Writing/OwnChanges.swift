import Bytes
import Locks
import Threads

/// The changes that this mount has made, and the files that are being written. Responses to earlier requests about
/// what has changed are outdated.
final class OwnChanges: Sendable {
  private struct State {
    /// The time of the last change of any item, in nanoseconds.
    var latest: UInt64 = 0
    /// The times of the last changes of directories' entries, in nanoseconds.
    var folders: [[UInt8]: UInt64] = [:]
    var staged: [[UInt8]: Weak] = [:]
  }

  private struct Weak: Sendable { weak var copy: StagedCopy? }

  private let state = UnfairLock(State())
  /// The threads that send the bytes of files that were closed without a flush.
  let threads = ThreadPool(atMost: 4)
  /// The folder for local copies.
  let spoolFolder: String

  /// The number of recorded directories after which old ones are forgotten.
  private static let mostFolders = 4096

  init(in folder: String) { spoolFolder = folder }

  /// Returns the time of the last change that concerns the entries of a directory, in nanoseconds.
  ///
  /// - Parameter isView: whether the directory, or the entry, is a view. Any file may be its source.
  func last(in path: [UInt8], isView: Bool) -> UInt64 {
    state.withLock { state in isView ? state.latest : state.folders[path] ?? 0 }
  }

  var latest: UInt64 { state.withLock { $0.latest } }

  /// Records that entries of a directory have changed, and with them its own attributes.
  func note(in path: [UInt8]) {
    let now = HTTPClient.now
    state.withLock { state in
      state.latest = now
      if state.folders.count >= Self.mostFolders {
        // Responses are valid for 30 s at most.
        state.folders = state.folders.filter { now - $0.value < 60_000_000_000 }
      }
      state.folders[path] = now
      if path.count > 1 { state.folders[Self.parent(of: path)] = now }
    }
  }

  static func parent(of path: [UInt8]) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let parent = path[..<(path.lastIndex(of: slash) ?? 0)]
    return parent.isEmpty ? [slash] : Array(parent)
  }

  // MARK: Files that are being written

  /// Returns the local copy of a file. Returns `nil` if there is none.
  func staged(_ path: [UInt8]) -> StagedCopy? {
    state.withLock { state in state.staged.isEmpty ? nil : state.staged[path]?.copy }
  }

  /// Records a local copy, unless there is one already. Returns the recorded one.
  func stage(_ copy: StagedCopy, at path: [UInt8]) -> StagedCopy {
    state.withLock { state in
      if let present = state.staged[path]?.copy { return present }
      if state.staged.count >= 64 { state.staged = state.staged.filter { $0.value.copy != nil } }
      state.staged[path] = Weak(copy: copy)
      return copy
    }
  }

  /// Forgets the local copy of a path.
  @discardableResult
  func unstage(_ path: [UInt8]) -> StagedCopy? {
    state.withLock { $0.staged.removeValue(forKey: path)?.copy }
  }

  /// Returns the local copies in a directory, at any depth, with their paths.
  func staged(below path: [UInt8]) -> [(path: [UInt8], copy: StagedCopy)] {
    let start = path.count == 1 ? path : path + [UInt8(ascii: "/")]
    return state.withLock { state in
      state.staged.compactMap { own, weak in own.starts(with: start) ? weak.copy.map { (own, $0) } : nil }
    }
  }
}
