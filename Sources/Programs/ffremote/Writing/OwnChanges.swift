import Bytes
import Locks
import ServerAnswers
import Threads

/// The changes that this mount has made, and the files that are being written. Responses to earlier requests about
/// what has changed are outdated.
final class OwnChanges: Sendable {
  private struct State {
    /// The time of the last change of any item, in nanoseconds.
    var latest: UInt64 = 0
    /// The times of the last changes of directories' entries, in nanoseconds.
    var folders: [[UInt8]: UInt64] = [:]
    /// The last changes of entries, including the attributes of directories.
    var entries: [[UInt8]: Change] = [:]
    /// The time of the last change of the path of a directory, in nanoseconds.
    var renamed: UInt64 = 0
    var staged: [[UInt8]: Weak] = [:]
  }

  private struct Change: Sendable {
    /// The time of the change, in nanoseconds.
    var time: UInt64
    /// The entry after the change. Nil if its attributes are not known.
    var item: ServerItem?
  }

  private struct Weak: Sendable { weak var copy: StagedCopy? }

  private let state = UnfairLock(State())
  /// The threads that send the bytes of files that were closed without a flush.
  let threads = ThreadPool(atMost: 4)
  /// The folder for local copies.
  let spoolFolder: String

  /// The number of recorded changes after which old ones are forgotten.
  private static let mostChanges = 4096

  init(in folder: String) { spoolFolder = folder }

  /// Returns the time of the last change that concerns the names of a directory's entries, in nanoseconds.
  ///
  /// - Parameter isView: whether the directory is a view. Any file may be its source.
  func last(in path: [UInt8], isView: Bool) -> UInt64 {
    state.withLock { state in isView ? state.latest : max(state.folders[path] ?? 0, state.renamed) }
  }

  /// Returns the time of the last change that concerns the attributes or bytes of an entry, in nanoseconds.
  ///
  /// - Parameter isView: whether the entry is a view, or may be one.
  func last(of path: [UInt8], isView: Bool) -> UInt64 {
    state.withLock { state in isView ? state.latest : max(state.entries[path]?.time ?? 0, state.renamed) }
  }

  /// Returns an entry as this mount has just left it. Returns `nil` if that is long ago, or its attributes are not known.
  func made(_ path: [UInt8]) -> ServerItem? {
    let now = HTTPClient.now
    return state.withLock { state in
      guard let change = state.entries[path], change.time >= state.renamed, now - change.time < RemoteServer.lifetime
      else { return nil }
      return change.item
    }
  }

  var latest: UInt64 { state.withLock { $0.latest } }

  /// Records that an entry of a directory has changed, and with it the attributes of the directory.
  ///
  /// - Parameter item: the entry after the change. Nil if its attributes are not known.
  func note(_ path: [UInt8], now item: ServerItem? = nil) {
    let now = HTTPClient.now
    let folder = Self.parent(of: path)
    state.withLock { state in
      state.latest = now
      if state.entries.count >= Self.mostChanges {
        // Responses are valid for 30 s at most.
        state.folders = state.folders.filter { now - $0.value < 60_000_000_000 }
        state.entries = state.entries.filter { now - $0.value.time < 60_000_000_000 }
      }
      state.folders[folder] = now
      state.entries[folder] = Change(time: now)
      state.entries[path] = Change(time: now, item: item)
    }
  }

  /// Records that a directory has another path, and with it all that is in it.
  func noteRenamedFolder() {
    let now = HTTPClient.now
    state.withLock { state in (state.latest, state.renamed) = (now, now) }
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
