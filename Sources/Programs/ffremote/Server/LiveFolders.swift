import Bytes
import Locks
import ServerAnswers
import Text

/// The folders whose changes the server reports, by `/api/events`. Their listings stay valid without requests.
final class LiveFolders: Sendable {
  private struct State {
    /// The folders of the next stream.
    var wanted: Set<[UInt8]> = []
    var isScheduled = false
    /// The time since which a folder has not changed, in nanoseconds.
    var unchangedSince: [[UInt8]: UInt64] = [:]
    /// The streams, the oldest first.
    var streams: [ChangeStream] = []
    /// The time before which no stream begins, in nanoseconds.
    var pausedUntil: UInt64 = 0
  }

  private let state = UnfairLock(State())

  /// The time in which folders are collected for a stream, in milliseconds.
  private static let collecting = 100
  /// The maximum number of folders of a stream, as the server permits.
  private static let most = 256
  private static let mostStreams = 4
  /// The time after a lost stream, in nanoseconds.
  private static let pause: UInt64 = 5_000_000_000
  /// The time after the response of a server that reports no changes, in nanoseconds.
  private static let longPause: UInt64 = 300_000_000_000

  /// The maximum time for which a response is valid, in nanoseconds. Writes through shared mappings are not reported.
  private static let longestLife: UInt64 = 30_000_000_000

  /// Returns whether a response about the entries of a folder is valid: the folder has not changed since the request
  /// began, as far as the server reports.
  ///
  /// - Parameter begun: the time of the request. 0 if the response is outdated.
  func isCurrent(_ path: [UInt8], since begun: UInt64) -> Bool {
    guard begun > 0, HTTPClient.now < begun + Self.longestLife else { return false }
    return state.withLock { state in state.unchangedSince[path].map { $0 <= begun } ?? false }
  }

  /// Asks the server to report the changes of a folder. Does not block.
  func want(_ path: [UInt8], _ server: RemoteServer) {
    let now = HTTPClient.now
    let mustSchedule = state.withLock { state in
      // A stream may not have begun, or may not report this folder.
      guard now >= state.pausedUntil, !state.streams.contains(where: { $0.reports(path) }),
        state.wanted.count < Self.most
      else { return false }
      state.wanted.insert(path)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard mustSchedule else { return }
    server.wire.after(milliseconds: Self.collecting) { [weak self, weak server] in
      if let self, let server { begin(server) }
    }
  }

  private func begin(_ server: RemoteServer) {
    let (stream, oldest) = state.withLock { state in
      let stream = ChangeStream(state.wanted.sorted { $0.lexicographicallyPrecedes($1) }, self)
      (state.wanted, state.isScheduled) = ([], false)
      state.streams.append(stream)
      guard state.streams.count > Self.mostStreams else { return (stream, ChangeStream?.none) }
      let oldest = state.streams.removeFirst()
      for path in oldest.paths { state.unchangedSince[path] = nil }
      return (stream, oldest)
    }
    if let oldest { server.wire.cancel(oldest) }
    server.wire.start(stream.exchange, token: server.token, stream)
  }

  /// Records that the server reports the changes of a folder from now on, or has reported one.
  fileprivate func note(_ path: [UInt8], of stream: ChangeStream) {
    let now = HTTPClient.now
    state.withLock { state in
      if state.streams.contains(where: { $0 === stream }) { state.unchangedSince[path] = now }
    }
  }

  fileprivate func end(_ stream: ChangeStream, isSupported: Bool) {
    let now = HTTPClient.now
    state.withLock { state in
      guard state.streams.contains(where: { $0 === stream }) else { return }
      state.streams.removeAll { $0 === stream }
      for path in stream.paths { state.unchangedSince[path] = nil }
      state.pausedUntil = now + (isSupported ? Self.pause : Self.longPause)
    }
  }
}

/// A request for the changes of some folders, whose response does not end.
private final class ChangeStream: Receiver {
  private struct State {
    var isSupported = true
    /// The bytes of an incomplete line.
    var line: [UInt8] = []
  }

  let paths: [[UInt8]]
  private let known: Set<[UInt8]>
  private let folders: LiveFolders
  private let state = UnfairLock(State())

  /// The maximum length of a line, in bytes.
  private static let longest = 64 << 10

  init(_ paths: [[UInt8]], _ folders: LiveFolders) {
    self.paths = paths
    known = Set(paths)
    self.folders = folders
  }

  /// Returns whether the server is asked to report the changes of a folder.
  func reports(_ path: [UInt8]) -> Bool { known.contains(path) }

  var exchange: HTTPExchange {
    let query = paths.map { "path=" + Percent.encoded($0, keepingSlash: true) }.joined(separator: "&")
    var exchange = HTTPExchange("/api/events?" + query)
    exchange.isEndless = true
    return exchange
  }

  func begin(_ head: AnswerHead) -> Bool {
    let isSupported = head.status == 200
    state.withLock { $0.isSupported = isSupported }
    return isSupported
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
    let piece = unsafe Array(bytes)
    let (changed, isTooLong) = state.withLock { state -> ([[UInt8]], Bool) in
      var changed: [[UInt8]] = []
      for byte in piece {
        guard byte == UInt8(ascii: "\n") else {
          state.line.append(byte)
          if state.line.count > Self.longest { return (changed, true) }
          continue
        }
        if let path = Self.path(state.line), known.contains(path) { changed.append(path) }
        state.line.removeAll(keepingCapacity: true)
      }
      return (changed, false)
    }
    for path in changed { folders.note(path, of: self) }
    return isTooLong ? .ended : .taken
  }

  func end(_ outcome: Outcome) { folders.end(self, isSupported: state.withLock { $0.isSupported }) }

  /// Returns the folder in a line `data: {"path":"/a"}`. Returns `nil` for other lines.
  private static func path(_ line: [UInt8]) -> [UInt8]? {
    let start = Array("data: ".utf8)
    return line.starts(with: start) ? ServerAnswer.path(ofEvent: Array(line.dropFirst(start.count))) : nil
  }
}
