import Bytes
import Files
import Glibc
import Locks
import ServerAnswers
import Threads
import Tree

/// A local copy of a file that is being written. All of it is sent to the server when it is closed or synced.
final class StagedCopy: StagedFile {
  private struct State {
    var path: [UInt8]
    /// The entity tag of the version from which the copy comes. Nil if the file does not exist on the server.
    var tag: String?
    /// Whether an empty file was created on the server, whose bytes have not been sent.
    var isReserved = false
    /// Whether the file has been removed or replaced.
    var isRemoved = false
    /// The number of changes, and the number of those that have been sent.
    var changes = 0
    var sent = 0
    /// Whether the last attempt to send the present bytes has failed.
    var hasFailed = false
    /// The modification time. Nil for that of the copy.
    var modified: Timestamp?
    /// Whether the file can be executed, and whether the server has to be told.
    var isExecutable = false
    var mustSetExecutable = false
    var openCount = 0
  }

  let server: RemoteServer
  private let file: TemporaryFile
  private let state: UnfairLock<State>
  /// Held while the bytes are sent. Taken before no other lock.
  private let sending = CancellableLock()

  /// - Parameters:
  ///   - tag: the entity tag of the version of which `file` has the bytes. Nil for a new file.
  ///   - modified: the modification time of that version.
  ///   - isReserved: whether `tag` is that of an empty file that was created for this.
  init(
    _ file: TemporaryFile, at path: [UInt8], _ server: RemoteServer, tag: String?, modified: Timestamp? = nil,
    isExecutable: Bool = false, isReserved: Bool = false
  ) {
    (self.file, self.server) = (file, server)
    var first = State(path: path, tag: tag)
    (first.modified, first.isExecutable, first.isReserved) = (modified, isExecutable, isReserved)
    // An empty file is sent, too.
    if tag == nil || isReserved { first.changes = 1 }
    state = UnfairLock(first)
  }

  // MARK: Attributes

  /// The entity tag of the version on the server. Nil if there is none.
  var tag: String? { state.withLock { $0.tag } }

  /// The file as an entry with a name.
  func item(named name: FileName) throws(Fault) -> ServerItem {
    let status = try status()
    var item = ServerItem()
    (item.name, item.size) = (name, .exact(status.size))
    let (modified, isExecutable) = state.withLock { ($0.modified, $0.isExecutable) }
    (item.modified, item.isExecutable) = (modified ?? status.modified.inMilliseconds, isExecutable)
    return item
  }

  private func status() throws(Fault) -> FileStatus {
    try file.withDescriptor { (descriptor) throws(Fault) in try FileStatus(of: descriptor) }
  }

  /// Records that the file has another path and version.
  func move(to path: [UInt8], tag: String?) {
    state.withLock { state in
      state.path = path
      if let tag, state.tag != nil { state.tag = tag }
    }
  }

  /// Calls `body`, which removes or replaces the file, while no bytes are being sent. `isSent` is whether the file exists
  /// on the server. Nothing is sent afterwards.
  func remove<Value>(_ body: (_ isSent: Bool) throws(Fault) -> Value) throws(Fault) -> Value {
    try sending.lock()
    defer { sending.unlock() }
    let value = try body(tag != nil)
    state.withLock { $0.isRemoved = true }
    return value
  }

  /// Records that the server's file has another modification time, and therefore another version.
  func note(modified: Timestamp, tag: String?) {
    state.withLock { state in
      state.modified = modified
      if let tag { state.tag = tag }
    }
  }

  /// Records whether the server's file can be executed, and its version after that.
  func note(isExecutable: Bool, tag: String?) {
    state.withLock { state in
      state.isExecutable = isExecutable
      if let tag { state.tag = tag }
    }
  }

  // MARK: StagedFile

  func open(accessMode: Int32) throws(Fault) -> Descriptor {
    state.withLock { $0.openCount += 1 }
    do throws(Fault) {
      var opened: Descriptor?
      try file.withDescriptor { (descriptor) throws(Fault) in
        opened = try FileChanges.open(descriptor, flags: accessMode)
      }
      guard let opened = opened.take() else { throw .stale }
      return opened
    } catch {
      state.withLock { $0.openCount -= 1 }
      throw error
    }
  }

  func close(accessMode: Int32) {
    let (mustSend, reserved) = state.withLock { state -> (Bool, (path: [UInt8], tag: String)?) in
      state.openCount -= 1
      guard state.openCount == 0, !state.isRemoved, state.changes != state.sent else { return (false, nil) }
      // The writer has been told of a failure.
      guard state.hasFailed else { return (true, nil) }
      state.isRemoved = true
      return (false, state.isReserved ? state.tag.map { (state.path, $0) } : nil)
    }
    guard mustSend || reserved != nil else { return }
    server.changes?.threads.submit { [self] in
      if let reserved { try? server.remove(reserved.path, ifTagged: reserved.tag) }
      if mustSend { try? send() }
    }
  }

  func noteChange() {
    state.withLock { state in
      state.changes += 1
      (state.modified, state.hasFailed) = (nil, false)
    }
  }

  func setModified(_ time: Timestamp) -> Bool {
    state.withLock { state in
      if state.isRemoved { return true }
      guard state.changes != state.sent else { return false }
      state.modified = time.inMilliseconds
      return true
    }
  }

  func setExecutable(_ isExecutable: Bool) -> Bool {
    state.withLock { state in
      if state.isRemoved { return true }
      guard state.changes != state.sent else { return false }
      (state.isExecutable, state.mustSetExecutable) = (isExecutable, true)
      return true
    }
  }

  var mustSend: Bool { state.withLock { !$0.isRemoved && $0.changes != $0.sent } }

  func send() throws(Fault) {
    try sending.lock()
    defer { sending.unlock() }
    let before = state.withLock { $0 }
    guard !before.isRemoved, before.changes != before.sent else { return }
    let status = try status()
    let modified = before.modified ?? status.modified.inMilliseconds
    let record = FileRecord.of(before.path, server)
    do throws(Fault) {
      var tag = try server.put(
        before.path, HTTPExchange.Upload(file: file, size: status.size), over: before.tag, modified: modified,
        isExecutable: before.isExecutable)
      if before.mustSetExecutable {
        state.withLock { $0.tag = tag }
        let item = server.changes?.made(before.path)
        do throws(Fault) {
          tag = try server.setExecutable(before.isExecutable, of: before.path, item, ifTagged: tag)
          state.withLock { $0.mustSetExecutable = $0.isExecutable != before.isExecutable }
        } catch {
          // An account that may only add files.
          guard error.kind == .system(EACCES) || error.kind == .system(EPERM) else { throw error }
          state.withLock { ($0.isExecutable, $0.mustSetExecutable) = (false, false) }
        }
      }
      state.withLock { state in
        (state.tag, state.sent, state.isReserved, state.hasFailed) = (tag, before.changes, false, false)
        if state.changes == before.changes, state.modified == nil { state.modified = modified }
      }
      record.note(sending: nil)
    } catch {
      // For a program that was killed, the bytes are sent in the background.
      guard error.kind != .interrupted else { throw error }
      state.withLock { $0.hasFailed = true }
      record.note(sending: error)
      throw error
    }
  }
}

extension Timestamp {
  /// The time as the API has it.
  var inMilliseconds: Timestamp { Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000_000 * 1_000_000) }

  /// The seconds since 1970 as a decimal fraction.
  var decimal: String {
    let digits = String(max(0, nanoseconds))
    return "\(seconds).\(String(repeating: "0", count: max(0, 9 - digits.count)))\(digits)"
  }
}
