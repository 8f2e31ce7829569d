internal import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Threads
internal import Tree

/// A watcher that makes the kernel notice when open files have changed in the source.
///
/// The kernel requests the size of a file that is read or statted, but sendfile(2), splice(2) and copy_file_range(2)
/// stop at the last known size. Files that stay open are therefore watched, or polled if the source's file system does
/// not report changes. A file that is soon closed is only recorded.
///
/// Watches report only changes of the bytes. Otherwise, the removal of a name through the mount would make the kernel
/// request the attributes, perhaps before it reads the reply to the removal. It would then count the removed link
/// twice.
final class SourceFollower: Sendable {
  private struct Watched {
    var files: [WeakFile]
    /// The number of the watch. `nil` if the file is polled.
    var number: Int32?
    /// The state that the kernel knows or is about to learn.
    var revision: UInt64

    var open: Tree.OpenFile? { files.firstNonNil { $0.file } }
  }

  private struct WeakFile: Sendable {
    weak var file: Tree.OpenFile?
  }

  private struct State {
    /// The files opened since the last round.
    var fresh: [WeakFile] = []
    var isRunning = false
    var isStopped = false
    /// The notification queue. Created for the first file that stays open.
    var notices: NoticeQueue?
  }

  private let state = UnfairLock(State())
  private let worker = ThreadPool(atMost: 1)
  /// Makes the kernel request the attributes of an open file.
  private let refresh: @Sendable (Tree.OpenFile) -> Void

  /// The time that a file must be open before it is watched, and the minimum interval between polls, in microseconds.
  private static let round: UInt32 = 250_000
  /// The maximum delay before watches of closed files end, in milliseconds.
  private static let longRound: Int32 = 5000

  init(_ refresh: @escaping @Sendable (Tree.OpenFile) -> Void) { self.refresh = refresh }

  /// Follows a file while it is open.
  func add(_ file: Tree.OpenFile) {
    let mustStart = state.withLock { state -> Bool in
      if state.isStopped { return false }
      state.fresh.append(WeakFile(file: file))
      // The thread handles new files in its next round, but may have to be woken from a long one.
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
    /// The watched files, by generation.
    var watched: [UInt64: Watched] = [:]
    while true {
      // Also pauses if there are many changes.
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
    // The file may have changed since it was opened.
    guard let revision = file.presentRevision, revision != file.openedRevision else { return }
    watched[file.generation]?.revision = revision
    refresh(file)
  }
}
