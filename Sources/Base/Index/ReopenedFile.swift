internal import Locks

/// An SQLite file that can be replaced while it is in use.
protocol ReplaceableFile: AnyObject, Sendable {
  /// Whether the file still has its name, or never had one.
  var isInPlace: Bool { get }
  /// Whether it is an unnamed file, which cannot be opened again.
  var isTemporary: Bool { get }

  /// Closes a damaged file and removes it, unless another has replaced it.
  func condemn()
}

/// A file that is opened again when it is damaged, or when another process has replaced it. Thread-safe.
final class ReopenedFile<File: ReplaceableFile>: Sendable {
  private struct State {
    var file: File?
    var replacements = 0
    /// The number of calls that failed because the file was damaged or replaced.
    var failures = 0
  }

  private let state: UnfairLock<State>
  /// Opens or creates the file again.
  private let open: @Sendable () throws -> File

  private static var failuresAtMost: Int { 2 }

  init(_ file: File, open: @escaping @Sendable () throws -> File) {
    state = UnfairLock(State(file: file))
    self.open = open
  }

  /// The number of times that the file was replaced or removed since it was opened, because it was damaged or by another
  /// process.
  var replacements: Int { state.withLock { $0.replacements } }

  /// Returns the result of `body`. Returns `nil` if it fails. A file that another process has replaced is tried again.
  func attempt<Result>(_ body: (File) throws -> Result) -> Result? {
    while let file = opened() {
      do { return try body(file) } catch {
        let isDamaged = IndexFailure(error) == .damage
        if file.isTemporary, !isDamaged { return nil }
        let isReplaced = !file.isInPlace
        state.withLock { state in
          guard state.file === file else { return }
          state.file = nil
          guard isDamaged || isReplaced else { return }
          state.replacements += 1
          state.failures += 1
        }
        if isDamaged { file.condemn() }
        // The new file may work.
        if !isReplaced { return nil }
      }
    }
    return nil
  }

  /// Changes the file by `body`. Returns whether the change is in the file that other processes find. A file that another
  /// process has removed in the meantime is tried again.
  func change(_ body: (File) throws -> Void) -> Bool {
    attempt { (file) -> Void in
      try body(file)
      guard file.isInPlace else { throw IndexFailure.passing }
    } != nil
  }

  /// Removes the file. It is opened again by the next call.
  func condemn() {
    let file = state.withLock { $0.file.take() }
    file?.condemn()
  }

  private func opened() -> File? {
    state.withLock { state in
      if let file = state.file {
        if file.isInPlace { return file }
        state.file = nil
        state.replacements += 1
      }
      guard state.failures < Self.failuresAtMost else { return nil }
      state.file = try? open()
      return state.file
    }
  }
}
