internal import GRDB
internal import Glibc
internal import Synchronization

/// The words of the texts of one source, in an SQLite file of its own (FTS5), which several processes share.
///
/// Texts are numbered from 0 and added in order. Only words are kept, not the texts. Like the index, nothing rests on it: a file that is
/// damaged, of another version or of another state of the source is made anew. For several threads at a time; every call
/// blocks on the disk.
public final class TextIndex: Sendable {
  private struct State {
    var file: TextFile?
    var remakes = 0
  }

  private let path: String
  private let state: Mutex<State>
  private let expected: TextFile.Meaning

  private static let remakesAtMost = 2

  /// Opens the file, or makes it; nil when there can be none. `sourceState` and `version` name what the texts are of: those
  /// of others are not found.
  init?(path: String, sourceState: [UInt8], version: UInt64) {
    self.path = path
    expected = TextFile.Meaning(state: sourceState, version: version)
    guard let file = try? TextFile.open(path, expected) else { return nil }
    state = Mutex(State(file: file))
    // The file used longest ago goes first.
    _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
  }

  /// How many texts are in, and whether they are all; nil when the file cannot be used any more.
  public var reach: (count: Int, isWhole: Bool)? { attempt { file in try file.reach() } }

  /// Adds the texts that follow those that are in, all or none. Gives whether they are in now.
  public func add(_ texts: [IndexedText], isLast: Bool) -> Bool {
    attempt { file in try file.add(texts, isLast: isLast) } ?? false
  }

  /// The numbers of the texts for which an FTS5 expression holds, in order; nil when it could not be asked.
  public func numbers(matching expression: String) -> [UInt32]? {
    attempt { file in try file.numbers(matching: expression) }
  }

  /// Lets other processes wait while this one adds texts; gives whether it may: until the lock goes, no other will.
  public func lock() -> TextIndexLock? { TextIndexLock(path) }

  /// What the file takes on the disk, in bytes.
  public var size: Int64 { TextFile.size(path) }

  private func attempt<Result>(_ body: (TextFile) throws -> Result) -> Result? {
    guard let file = opened() else { return nil }
    do { return try body(file) } catch {
      state.withLock { state in
        guard state.file === file else { return }
        state.file = nil
        if IndexFailure(error) == .damage {
          state.remakes += 1
          file.close()
          TextFile.remove(path)
        }
      }
      return nil
    }
  }

  private func opened() -> TextFile? {
    state.withLock { state in
      if let file = state.file, file.isInPlace { return file }
      state.file = nil
      guard state.remakes < Self.remakesAtMost else { return nil }
      state.file = try? TextFile.open(path, expected)
      return state.file
    }
  }
}

/// What a text index keeps the words of.
public struct IndexedText: Sendable {
  /// In the order of `columns`.
  public var fields: [[UInt8]]

  /// UTF-8 each.
  public init(subject: [UInt8], sender: [UInt8], recipients: [UInt8], body: [UInt8], files: [UInt8]) {
    fields = [subject, sender, recipients, body, files]
  }

  public static let columns = ["subject", "sender", "recipients", "body", "files"]
}

/// Held by the one process that adds texts to a file.
public final class TextIndexLock: Sendable {
  private let descriptor: Int32

  fileprivate init?(_ path: String) {
    descriptor = unsafe open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }
}
