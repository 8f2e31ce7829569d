internal import Bytes
internal import Glibc

/// The full-text index of one source's texts, in its own SQLite (FTS5) file, which several processes share, or in an
/// unnamed file.
///
/// Texts are numbered from 0 and added in order. Only words are stored, not the texts. Like the index, it is only a
/// cache: a file that is damaged, of another version or of another state of the source is recreated. Thread-safe; every
/// call blocks on the disk.
public final class TextIndex: Sendable {
  /// The path of the file. Nil for an unnamed file.
  private let path: String?
  private let file: ReopenedFile<TextFile>

  /// Opens or creates the file. Returns `nil` if that is impossible.
  ///
  /// `sourceState` and `version` identify the origin of the texts. A file of other texts is replaced, unless
  /// `continues` returns true for the proof and the number of texts of an earlier state: those are then the first of
  /// this state's.
  init?(
    path: String, key: [UInt8], sourceState: [UInt8], version: UInt64, proof: [UInt8],
    continues: (_ proof: [UInt8], _ count: Int) throws(Fault) -> Bool
  ) throws(Fault) {
    let meaning = TextFile.Meaning(state: sourceState, version: version, proof: proof)
    var start = try? TextFile.content(of: path, key)
    if let found = start {
      // `continues` may read for long, so the directory's lock is not held.
      let mayBeStart =
        found.isWhole && found.count > 0 && found.meaning.version == version && found.meaning.state != sourceState
      let isStart = mayBeStart ? try continues(found.meaning.proof, found.count) : false
      if !isStart { start = nil }
    }
    guard let file = try? TextFile.open(path, key, meaning, continuing: start) else { return nil }
    self.path = path
    self.file = ReopenedFile(file) { try TextFile.open(path, key, meaning) }
    // The file's mtime is its time of last use, for LRU eviction.
    _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
  }

  /// Opens a file that has all texts of this state and version. Returns `nil` if there is none.
  init?(wholeAt path: String, key: [UInt8], sourceState: [UInt8], version: UInt64) {
    guard let content = try? TextFile.content(of: path, key), content.isWhole, content.meaning.state == sourceState,
      content.meaning.version == version, let file = try? TextFile.open(path, key, content.meaning)
    else { return nil }
    self.path = path
    self.file = ReopenedFile(file) { try TextFile.open(path, key, content.meaning) }
    _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
  }

  /// Creates a private index in an unnamed file, which ends with this object or the process. Returns `nil` if that is
  /// impossible.
  public init?(temporary: ()) {
    guard let file = try? TextFile.temporary() else { return nil }
    path = nil
    // The texts are lost with the file.
    self.file = ReopenedFile(file) { throw IndexFailure.passing }
  }

  /// Whether the words are lost with this object.
  public var isTemporary: Bool { path == nil }

  /// The number of indexed texts.
  public struct Reach: Sendable {
    public let count: Int
    /// Whether these were all texts of the source.
    public let isWhole: Bool

    /// Returns whether these are all of `count` texts. A source may have received more.
    public func isWhole(of count: Int) -> Bool { isWhole && self.count >= count }
  }

  /// The number of indexed texts. Nil if the file is no longer usable.
  public var reach: Reach? {
    file.attempt { file in
      let (count, isWhole) = try file.reach()
      return Reach(count: count, isWhole: isWhole)
    }
  }

  /// Appends texts, all or none, to the `present` indexed ones. Returns whether they are indexed now.
  public func add(_ texts: [IndexedText], behind present: Int, isLast: Bool) -> Bool {
    file.change { file in try file.add(texts, behind: present, isLast: isLast) }
  }

  /// Returns the numbers of the texts that match an FTS5 expression, in ascending order. Returns `nil` if the query
  /// failed, or if fewer than `count` texts are indexed because some were lost.
  public func numbers(matching expression: String, among count: Int = 0) -> [UInt32]? {
    file.attempt { file in try file.numbers(matching: expression, among: count) }
  }

  /// Returns an exclusive lock for adding texts, held until it is released. Returns `nil` while another process has it.
  /// If locking is impossible, two processes that add texts concurrently conflict, and one of them fails.
  public func lock() -> TextIndexLock? { TextIndexLock(path) }
}

/// A text to be indexed.
public struct IndexedText: Sendable {
  /// The fields in the order of `columns`.
  public var fields: [[UInt8]]

  /// Creates a text. Each field is in UTF-8.
  public init(subject: [UInt8], sender: [UInt8], recipients: [UInt8], body: [UInt8], files: [UInt8]) {
    fields = [subject, sender, recipients, body, files]
  }

  public static let columns = ["subject", "sender", "recipients", "body", "files"]
}

/// The lock of the process that adds texts to a file.
public final class TextIndexLock: Sendable {
  private let descriptor: Int32
  private let release: @Sendable () -> Void

  private static let suffix = "-lock"

  /// Creates the lock of an unnamed file.
  init(release: @escaping @Sendable () -> Void) {
    descriptor = -1
    self.release = release
  }

  /// Takes the lock of a file. Nil means an unnamed file that needs no lock.
  init?(_ path: String?) {
    release = {}
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

  deinit {
    if descriptor >= 0 {
      // Unlocked explicitly: a child process that has not called exec yet may have the descriptor, too.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    release()
  }
}
