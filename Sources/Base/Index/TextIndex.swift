internal import Bytes
internal import GRDB
internal import Glibc
internal import Synchronization

/// The words of the texts of one source, in an SQLite file of its own (FTS5), which several processes share, or in one that
/// has no name.
///
/// Texts are numbered from 0 and added in order. Only words are kept, not the texts. Like the index, nothing rests on it: a file that is
/// damaged, of another version or of another state of the source is made anew. For several threads at a time; every call
/// blocks on the disk.
public final class TextIndex: Sendable {
  private struct State {
    var file: TextFile?
    var remakes = 0
  }

  private struct Place: Sendable {
    let path: String
    let key: [UInt8]
    let meaning: TextFile.Meaning
  }

  /// nil for a file without a name.
  private let place: Place?
  private let state: Mutex<State>

  private static let remakesAtMost = 2

  /// Opens the file, or makes it; nil when there can be none. `sourceState` and `version` name what the texts are of: those
  /// of others are not found, unless `continues` says of an earlier state's proof and number of texts that those are the first.
  init?(
    path: String, key: [UInt8], sourceState: [UInt8], version: UInt64, proof: [UInt8],
    continues: (_ proof: [UInt8], _ count: Int) throws(Fault) -> Bool
  ) throws(Fault) {
    let meaning = TextFile.Meaning(state: sourceState, version: version, proof: proof)
    var start = try? TextFile.content(of: path, key)
    if let found = start {
      // Reading for the answer may take long: that is done without the folder's lock.
      let mayBeStart =
        found.isWhole && found.count > 0 && found.meaning.version == version && found.meaning.state != sourceState
      let isStart = mayBeStart ? try continues(found.meaning.proof, found.count) : false
      if !isStart { start = nil }
    }
    guard let file = try? TextFile.open(path, key, meaning, continuing: start) else { return nil }
    place = Place(path: path, key: key, meaning: meaning)
    state = Mutex(State(file: file))
    // The file used longest ago goes first.
    _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
  }

  /// One that nobody else uses, in a file without a name, which is gone with this or with the process; nil when there can be
  /// none.
  public init?(temporary: ()) {
    guard let file = try? TextFile.temporary() else { return nil }
    place = nil
    state = Mutex(State(file: file))
  }

  /// Whether the words are gone with this.
  public var isTemporary: Bool { place == nil }

  /// How many texts are in, and whether they are all; nil when the file cannot be used any more.
  public var reach: (count: Int, isWhole: Bool)? { attempt { file in try file.reach() } }

  /// Adds texts, all or none, behind those that are in, which must be `present`. Gives whether they are in now.
  public func add(_ texts: [IndexedText], behind present: Int, isLast: Bool) -> Bool {
    attempt { file in try file.add(texts, behind: present, isLast: isLast) } != nil
  }

  /// The numbers of the texts for which an FTS5 expression holds, in order; nil when it could not be asked, or when not even
  /// `count` texts are in, because what was in has been lost.
  public func numbers(matching expression: String, among count: Int = 0) -> [UInt32]? {
    attempt { file in try file.numbers(matching: expression, among: count) }
  }

  /// Lets other processes wait while this one adds texts; nil while another one does. Until the lock goes, no other will.
  /// Where there can be no lock, two that add at once get in each other's way, and one of them fails.
  public func lock() -> TextIndexLock? { TextIndexLock(place?.path) }

  private func attempt<Result>(_ body: (TextFile) throws -> Result) -> Result? {
    while let file = opened() {
      do { return try body(file) } catch {
        let isDamaged = IndexFailure(error) == .damage
        // There is no other one to be had.
        if file.isTemporary, !isDamaged { return nil }
        let isReplaced = !file.isInPlace
        state.withLock { state in
          guard state.file === file else { return }
          state.file = nil
          state.remakes += isDamaged || isReplaced ? 1 : 0
        }
        if isDamaged { file.condemn() }
        // What another process has put in its place may answer.
        if !isReplaced { return nil }
      }
    }
    return nil
  }

  private func opened() -> TextFile? {
    state.withLock { state in
      if let file = state.file, file.isInPlace { return file }
      state.file = nil
      guard let place, state.remakes < Self.remakesAtMost else { return nil }
      state.file = try? TextFile.open(place.path, place.key, place.meaning)
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

  private static let suffix = "-lock"

  /// nil: of a file that nobody else has.
  fileprivate init?(_ path: String?) {
    guard let path else {
      descriptor = -1
      return
    }
    descriptor = unsafe open(path + Self.suffix, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      close(descriptor)
      return nil
    }
  }

  static func remove(_ path: String) { _ = unsafe unlink(path + suffix) }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
