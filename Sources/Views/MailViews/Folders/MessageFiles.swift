internal import Bytes
internal import Files
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree

/// The message files of a folder in one state: what its views are made of.
///
/// Whether that is still the present state is told from the folder's times, and once in a while from all files, because
/// nothing else tells of a file that was changed in its place, or that others may no longer read.
final class MessageFiles: Item {
  private let folder: any Item
  /// In the order of their messages.
  let files: [MailFile]
  /// Those that hold the files.
  private let places: [any Item]
  private let described: Attributes
  /// A hash of all that is shown of the files.
  let state: UInt64
  private let seen: Mutex<Seen>
  private let folders: MailFolders
  var inode: UInt64 { folder.inode }
  var kind: Kind { .folder }
  // What is made of the folder has the state that it was made of; `checkCurrent` compares.
  var isImmutable: Bool { true }
  var sourceState: UInt64 { folder.sourceState }

  /// When the files were listed.
  private struct Seen {
    /// Of the folder and those that hold the files: mtime and ctime.
    var times: [Timestamp]
    var at: UInt64
    /// How long it took, in nanoseconds.
    var cost: UInt64
    /// Whether any later change shows in the times.
    var isSettled: Bool
  }

  /// How long the files are taken to be as they were, at least, in nanoseconds, and how many times as long as listing
  /// them takes.
  private static let shortestTrust: UInt64 = 1_000_000_000
  private static let trust: UInt64 = 50

  init(_ found: Found, _ list: MailFileList, state: UInt64, at start: UInt64, in folders: MailFolders) {
    folder = found.item
    files = list.files
    places = list.places.map(\.item)
    self.state = state
    self.folders = folders
    var shown = found.attributes
    shown.size = Bounds.size(list.files.reduce(0) { Bounds.sum($0, $1.identity.size) })
    described = list.rights.applied(to: shown)
    let now = monotonicNanoseconds()
    seen = Mutex(Seen(times: list.times, at: now, cost: now &- start, isSettled: list.isSettled))
  }

  /// In bytes.
  var size: Int64 { described.size }

  /// Device and inode of the folder, if it is one on a disk.
  var identity: (device: UInt64, inode: UInt64)? { (folder as? RealFolder)?.identity }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { described }
  /// The mode says what all lists leave.
  func accessList() throws(Fault) -> AccessList? { nil }
  func revision(_ attributes: Attributes) -> UInt64 { state }

  /// A message's file; nil if there is none of its name, or it is another file by now.
  func find(_ file: MailFile) throws(Fault) -> Found? {
    guard let found = try places[file.folder].child(named: file.name, .blocking), found.attributes.kind == .file else {
      return nil
    }
    let (now, before) = (found.attributes, file.identity)
    let isSame = now.inode == before.inode && now.size == before.size && now.modified == before.modified
    return isSame ? found : nil
  }

  /// The same folder in its present state: this one, or another. Blocks.
  func present(isDoubted: Bool = true) throws(Fault) -> MessageFiles {
    do throws(Fault) {
      try checkCurrent(isDoubted: isDoubted, .blocking)
      return self
    } catch {
      guard error.kind == Fault.stale.kind, let now = folders.known(folder) else { throw error }
      return now
    }
  }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as it was.
    if folder.isImmutable { return }
    if !isDoubted, try isTrusted() { return }
    if patience == .immediate { throw .later }
    let start = monotonicNanoseconds()
    let attributes: Attributes
    do throws(Fault) { attributes = try folder.attributes(patience) } catch {
      throw error.isDelay ? error : .stale
    }
    guard let now = try folders.list(Found(folder, attributes), at: start) else { throw .stale }
    guard now.state == state else {
      folders.keep(now, of: folder)
      throw .stale
    }
    let fresh = now.seen.withLock { $0 }
    seen.withLock { $0 = fresh }
  }

  private func isTrusted() throws(Fault) -> Bool {
    let seen = seen.withLock { $0 }
    guard seen.isSettled, monotonicNanoseconds() &- seen.at < max(Self.shortestTrust, Self.trust &* seen.cost) else {
      return false
    }
    return try unlessDelayed { () throws(Fault) in try MailFileList.times(of: [folder] + places) } == seen.times
  }
}

/// The folders of message files that were listed last.
final class MailFolders: Sendable {
  private let listed = Mutex<[(folder: UInt64, files: MessageFiles)]>([])
  private static let keptAtMost = 8

  private static func key(_ folder: any Item) -> UInt64 {
    StableHash(seed: folder.inode).adding(folder.sourceState).value
  }

  /// What was listed last of a folder, whether or not that is its present state.
  func known(_ folder: any Item) -> MessageFiles? {
    let key = Self.key(folder)
    return listed.withLock { $0.first { $0.folder == key }?.files }
  }

  func keep(_ files: MessageFiles, of folder: any Item) {
    let key = Self.key(folder)
    listed.withLock { listed in
      listed.removeAll { $0.folder == key }
      listed.append((key, files))
      if listed.count > Self.keptAtMost { listed.removeFirst() }
    }
  }

  /// The message files of a folder in its present state; nil if it has none. Blocks on the disk.
  func files(of found: Found, _ patience: Patience) throws(Fault) -> MessageFiles? {
    if let known = known(found.item) {
      do throws(Fault) {
        try known.checkCurrent(isDoubted: false, patience)
        return known
      } catch {
        if error.isDelay { throw error }
        // It was listed again just now.
        if let now = self.known(found.item), now !== known { return now }
      }
    }
    if patience == .immediate { throw .later }
    guard let files = try list(found, at: monotonicNanoseconds()) else { return nil }
    keep(files, of: found.item)
    return files
  }

  /// Lists a folder; nil if it has no messages.
  func list(_ found: Found, at start: UInt64) throws(Fault) -> MessageFiles? {
    guard let list = try MailFileList.whole(of: found) else { return nil }
    var state = StableHash(seed: found.item.inode)
    for file in list.files {
      state.combine(file.identity.hash)
      state.combine(UInt64(file.folder) << 8 | UInt64(file.state.rawValue))
    }
    state.combine(list.changes)
    let rights = list.rights.applied(to: found.attributes)
    for word in [UInt64(rights.owner), UInt64(rights.group), UInt64(rights.permissions)] { state.combine(word) }
    return MessageFiles(found, list, state: state.value, at: start, in: self)
  }
}
