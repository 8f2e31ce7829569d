internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization
internal import Threads
internal import Tree

/// Has the kernel learn that open files have changed in the source.
///
/// The kernel asks for the size of a file when somebody reads or stats it, but sendfile(2), splice(2) and copy_file_range(2) end
/// where the file ended when it was last asked. So files that stay open are watched, or looked at where the source's file system
/// does not tell. Those that are soon closed cost nothing more than to be noted.
///
/// Only changes of the bytes count: if the kernel asked for the attributes just after a name was removed through the mount, and
/// before it has read the reply to that, it would count the link as removed twice.
final class SourceFollower: Sendable {
  private struct Watched {
    var files: [WeakFile]
    /// The number of the watch; nil if the file is looked at.
    var number: Int32?
    /// The state that the kernel has been told, or is about to be.
    var revision: UInt64

    var open: Tree.OpenFile? { files.lazy.compactMap(\.file).first }
  }

  private struct WeakFile: Sendable {
    weak var file: Tree.OpenFile?
  }

  private struct State {
    /// Opened since the last round.
    var fresh: [WeakFile] = []
    var isRunning = false
    var isStopped = false
    /// Made for the first file that stays open.
    var notices: NoticeQueue?
  }

  private let state = Mutex(State())
  private let worker = Workers(atMost: 1)
  /// Makes the kernel ask for the attributes of an open file.
  private let refresh: @Sendable (Tree.OpenFile) -> Void

  /// How long a file has to be open before it is watched, and how long at least it is between two looks, in microseconds.
  private static let round: UInt32 = 250_000
  /// How soon watches of closed files are ended, in milliseconds.
  private static let longRound: Int32 = 5000

  init(_ refresh: @escaping @Sendable (Tree.OpenFile) -> Void) { self.refresh = refresh }

  /// Follows a file as long as it is open.
  func add(_ file: Tree.OpenFile) {
    let mustStart = state.withLock { state -> Bool in
      if state.isStopped { return false }
      state.fresh.append(WeakFile(file: file))
      // The thread looks at what is fresh in its next round, unless it is in a long one.
      guard state.fresh.count == 1 else { return false }
      state.notices?.wake()
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { worker.submit { [self] in run() } }
  }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.notices?.wake()
    }
    worker.stop()
  }

  private func run() {
    /// By generation.
    var watched: [UInt64: Watched] = [:]
    while true {
      // Also while there is much to be told of.
      _ = usleep(Self.round)
      let (fresh, isEnding) = state.withLock { state -> ([WeakFile], Bool) in
        defer { state.fresh = [] }
        let isEnding = state.isStopped || state.fresh.isEmpty && watched.isEmpty
        if isEnding { state.isRunning = false }
        return (state.fresh, isEnding)
      }
      if isEnding { return }
      for reference in fresh { add(reference, to: &watched) }
      let isLooked = watched.values.contains { $0.number == nil }
      let (hasFresh, notices) = state.withLock { (!$0.fresh.isEmpty, $0.notices) }
      let changes = notices?.wait(milliseconds: hasFresh || isLooked ? 0 : Self.longRound) ?? []
      let isLost = changes.contains { $0.isLost }
      let changed = Set(changes.map(\.number))
      for (generation, one) in watched {
        guard let file = one.open else {
          watched[generation] = nil
          // Another node of the same file has the same watch.
          if let number = one.number, !watched.values.contains(where: { $0.number == number }) { notices?.end(number) }
          continue
        }
        let mayHaveChanged = isLost || one.number.map { changed.contains($0) } ?? true
        guard mayHaveChanged, let revision = file.presentRevision, revision != one.revision else { continue }
        watched[generation]?.revision = revision
        refresh(file)
      }
    }
  }

  private func add(_ reference: WeakFile, to watched: inout [UInt64: Watched]) {
    guard let file = reference.file else { return }
    if watched[file.generation]?.open != nil {
      watched[file.generation]?.files.removeAll { $0.file == nil }
      watched[file.generation]?.files.append(reference)
      return
    }
    let notices = state.withLock { state in
      if state.notices == nil { state.notices = try? NoticeQueue() }
      return state.notices
    }
    let number = notices.flatMap { notices in
      file.isDistant ? nil : file.withDescriptor { try? notices.watch(bytesOf: $0) }
    }
    watched[file.generation] = Watched(files: [reference], number: number, revision: file.openedRevision)
    // What has changed until now.
    guard let revision = file.presentRevision, revision != file.openedRevision else { return }
    watched[file.generation]?.revision = revision
    refresh(file)
  }
}
