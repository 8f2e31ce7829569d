import Bytes
import Glibc
import Locks
import ServerAnswers
import Threads
import Tree

/// A version of a file on the server.
final class OpenedFile: Sendable {
  /// The strong entity tag. Nil if the server sends none.
  let tag: String?
  /// The entity tag without the mark of a weak one. Nil if the server sends none.
  let version: String?
  /// The exact size, in bytes.
  let size: Int64
  /// The time of the server's Last-Modified, in seconds since 1970.
  let modified: Int64?
  /// The first bytes. All of them if the file is small.
  let head: [UInt8]
  /// Whether the server sends parts of the file. Not known of a file whose first bytes are all.
  let hasParts: Bool

  init(_ answer: AnswerHead, size: Int64, head: [UInt8]) {
    (tag, version, modified, hasParts) = (answer.tag, answer.version, answer.modified, answer.status == 206)
    self.size = size
    self.head = head
  }

  /// Creates a version with a strong entity tag.
  init(tag: String?, size: Int64, modified: Int64?, head: [UInt8], hasParts: Bool) {
    (self.tag, self.size, self.modified, self.head, self.hasParts) = (tag, size, modified, head, hasParts)
    version = tag
  }

  /// Creates the version whose bytes have arrived with the file's attributes.
  init(_ content: ServerItem.Content, modified: Int64) {
    (tag, version, self.modified, hasParts) = (content.tag, EntityTag.opaque(content.tag), modified, false)
    size = Int64(content.bytes.count)
    head = content.bytes
  }

  /// Returns whether a response has a part of this version.
  func isIn(_ head: AnswerHead) -> Bool { isOf(head) && head.part?.size == size }

  /// Returns whether a response is about this version, unless its size differs.
  func isOf(_ head: AnswerHead) -> Bool { head.version == version && (tag != nil || head.modified == modified) }

  /// Returns whether this is the same version as another one of the file.
  func isSame(as other: OpenedFile) -> Bool {
    version == other.version && (tag != nil && tag == other.tag || modified == other.modified) && size == other.size
      && head == other.head
  }

  /// Whether bytes have to be read from a copy of the whole file.
  var needsCopy: Bool { !hasParts && size > Int64(head.count) }

  /// Returns the fault for a response that has not the requested part of this version.
  func fault(_ head: AnswerHead, _ address: String) -> Fault {
    let isSame = tag != nil && head.tag == tag && (head.part?.size ?? head.length) == size
    switch head.status {
    case 200 where isSame: return Fault(.system(EIO), "the server \(address) sent the whole file instead of a part")
    case 206 where isSame: return Fault(.system(EIO), "the server \(address) sent a different range than requested")
    default: return .stale
    }
  }
}

/// The known state of a file's bytes.
final class FileRecord: Sendable {
  let path: [UInt8]
  let server: RemoteServer

  private struct State {
    var opened: OpenedFile?
    var fetch: SharedFetch<OpenedFile>?
    /// The time at which the server last confirmed `opened`, and that of the request, in nanoseconds.
    var confirmedAt: UInt64 = 0
    var askedAt: UInt64 = 0
    /// Whether the file is known to be no view.
    var isPlain = false
    /// The reason why the last read failed.
    var failure: String?
    /// The reason why the bytes of the file could not be sent. Nil after they have been.
    var unsent: String?
  }

  private let state = UnfairLock(State())

  /// The number of bytes requested when a file is opened.
  static let headSize = 128 << 10

  init(_ path: [UInt8], _ server: RemoteServer) {
    self.path = path
    self.server = server
  }

  /// Returns the record of the file at a path.
  static func of(_ path: [UInt8], _ server: RemoteServer) -> FileRecord {
    if let known = server.files[path] { return known }
    let record = FileRecord(path, server)
    server.files.insert(record, for: path, cost: 512 + path.count)
    return record
  }

  /// The version of the file when it was last opened.
  var opened: OpenedFile? { state.withLock { $0.opened } }

  /// The version of the file, if it was opened recently.
  var recent: OpenedFile? {
    let now = HTTPClient.now
    return state.withLock { state in
      // A version that is being requested is not known yet.
      let changed = server.changes?.last(of: path, isView: !state.isPlain) ?? 0
      if let fetch = state.fetch, fetch.isUsable, fetch.begun > changed { return fetch.success }
      guard state.askedAt > changed || changed == 0 else { return nil }
      let age = now - min(now, state.confirmedAt)
      if age < server.interface.lifetime { return state.opened }
      // As long as the server reports no change of the directory.
      guard age < Self.longestLife, state.isPlain,
        server.live?.isCurrent(OwnChanges.parent(of: path), since: state.askedAt) ?? false
      else { return nil }
      return state.opened
    }
  }

  /// The maximum time for which bytes that have arrived with others are valid, in nanoseconds.
  private static let longestLife: UInt64 = 3_000_000_000

  /// Records that a response was about a version.
  ///
  /// - Parameter begun: the time of the request, in nanoseconds.
  func confirm(_ opened: OpenedFile, askedAt begun: UInt64) {
    let now = HTTPClient.now
    state.withLock { state in
      if state.opened == nil { state.opened = opened }
      if state.opened === opened { (state.confirmedAt, state.askedAt) = (now, begun) }
    }
  }

  /// Records a version that has arrived without being opened. Keeps an equal one, which readers may have.
  ///
  /// - Parameters:
  ///   - begun: the time of the request, in nanoseconds.
  ///   - isPlain: whether the file is known to be no view.
  func keep(_ opened: OpenedFile, askedAt begun: UInt64, isPlain: Bool) {
    let now = HTTPClient.now
    let isNew = state.withLock { state in
      let isNew = state.opened?.tag != opened.tag
      if isNew { state.opened = opened }
      (state.confirmedAt, state.askedAt, state.failure, state.isPlain) = (now, begun, nil, isPlain)
      return isNew
    }
    if isNew { server.files.insert(self, for: path, cost: 512 + path.count + opened.head.count) }
  }

  var failure: String? { state.withLock { $0.unsent ?? $0.failure } }

  /// Records the outcome of sending the bytes of the file.
  func note(sending fault: Fault?) { state.withLock { $0.unsent = fault?.description } }

  /// Invalidates the version, which has turned out to be outdated or unlisted.
  func doubt() { state.withLock { ($0.fetch, $0.confirmedAt, $0.askedAt) = (nil, 0, 0) } }

  /// Returns the request for a range of a version of the file.
  func request(for range: String, of opened: OpenedFile) -> HTTPExchange {
    var exchange = server.interface.file(at: path)
    exchange.headers.append("Range: bytes=\(range)")
    if let tag = opened.tag { exchange.headers.append(server.interface.condition(tag)) }
    return exchange
  }

  func note(_ fault: Fault?) {
    if let fault, fault.isDelay || fault.reason.isEmpty { return }
    state.withLock { $0.failure = fault?.description }
  }

  func noteSuccess() {
    state.withLock { state in if state.failure != nil { state.failure = nil } }
  }

  /// Returns the current version of the file. The server makes a derived file for this.
  func open(_ blocking: BlockingMode) throws(Fault) -> OpenedFile {
    if let recent {
      state.withLock { state in if state.opened !== recent { state.opened = recent } }
      return recent
    }
    let fetch = state.withLock { state in
      if let fetch = state.fetch, fetch.isUsable, fetch.begun > server.changes?.latest ?? 0 { return fetch }
      let fetch = ask(knowing: state.opened)
      state.fetch = fetch
      return fetch
    }
    do throws(Fault) {
      let opened = try fetch.value(blocking)
      let isNew = state.withLock { state in
        state.failure = nil
        defer { state.opened = opened }
        return state.opened !== opened
      }
      if isNew { server.files.insert(self, for: path, cost: 512 + path.count + opened.head.count) }
      return opened
    } catch {
      note(error)
      throw error
    }
  }

  /// The kept blocks of a version. Nil if none are kept.
  func blocks(of opened: OpenedFile) -> KeptBlocks? {
    server.kept?.blocks(of: opened, server.interface.file(at: path).target)
  }

  private func ask(knowing known: OpenedFile?) -> SharedFetch<OpenedFile> {
    let fetch = SharedFetch<OpenedFile>(lifetime: server.interface.lifetime)
    guard known == nil, let kept = server.kept else {
      ask(knowing: known, fetch)
      return fetch
    }
    server.help { [self] in
      let known = kept.version(of: server.interface.file(at: path).target)
      if kept.isOffline, let known { return fetch.finish(.success(known)) }
      ask(knowing: known, fetch)
    }
    return fetch
  }

  private func ask(knowing known: OpenedFile?, _ fetch: SharedFetch<OpenedFile>) {
    let exchange = Self.start(of: server.interface.file(at: path), unlike: known)
    let call = RepeatedRequest(server, exchange, limit: Self.headSize, takesStart: true) { [server] result in
      fetch.finish(
        Result { () throws(Fault) in
          let answer = try result.get()
          if answer.head.status == 304, let known { return known }
          let opened = try Self.opened(answer, server)
          server.kept?.keep(opened, of: exchange.target)
          return opened
        })
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
  }

  /// Returns the request for the first bytes of a file, unless they are those of a known version.
  static func start(of file: HTTPExchange, unlike known: OpenedFile?) -> HTTPExchange {
    var exchange = file
    exchange.headers.append("Range: bytes=0-\(headSize - 1)")
    if let tag = known?.tag { exchange.headers.append("If-None-Match: \(tag)") }
    return exchange
  }

  /// Returns the version of a file from the response to a request for its first bytes.
  static func opened(_ answer: RepeatedRequest.Answer, _ server: RemoteServer) throws(Fault) -> OpenedFile {
    let head = answer.head
    let size: Int64
    if head.isEncoded {
      throw Fault(.system(EIO), "the server \(server.address.text) sent a compressed file that is not the file itself")
    }
    switch head.status {
    case 206:
      guard let part = head.part, part.range.lowerBound == 0, !answer.isCut,
        part.range.upperBound == Int64(answer.body.count)
      else { throw Fault(.system(EIO), "the server \(server.address.text) sent a different range than requested") }
      size = part.size
    case 200:
      // Content-Range has no meaning here (RFC 9110, section 14.4): a proxy may have changed the status.
      guard head.part == nil else {
        throw Fault(.system(EIO), "the server \(server.address.text) sent a part of the file as the whole")
      }
      guard let length = head.length, Int64(answer.body.count) == min(length, Int64(headSize)) else {
        throw Fault(.system(EIO), "the server \(server.address.text) did not report the size of the file")
      }
      size = length
    // An empty file has no range that could be requested.
    case 416 where head.isOfNothing: size = 0
    default: throw server.fault(answer)
    }
    return OpenedFile(head, size: size, head: answer.body)
  }
}
