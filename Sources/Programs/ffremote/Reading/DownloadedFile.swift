import Assembly
import Bytes
import Files
import Glibc
import Locks
import Tree

/// A temporary copy of a version of a file: whole, or absent.
final class DownloadedFile: Receiver {
  private struct State {
    /// The unnamed file. Nil before its space has been allocated.
    var file: TemporaryFile?
    /// The received parts that have not been written.
    var parts: [[UInt8]] = []
    /// The sum of their sizes, in bytes.
    var waiting = 0
    var received: Int64 = 0
    var isPaused = false
    var isWriting = false
    /// The reason why the response is refused.
    var fault: Fault?
    var outcome: Outcome?
    /// The number of lost connections.
    var losses = 0
    var lostSince: UInt64?
    var busySince: UInt64?
  }

  let record: FileRecord
  let opened: OpenedFile
  /// The whole file.
  let content = SharedFetch<TemporaryFile>()
  private let folder: String
  private let began = HTTPClient.now
  private let state = UnfairLock(State())

  /// The maximum number of bytes that wait to be written.
  private static let mostWaiting = 8 << 20
  /// The maximum number of lost connections. Each begins the file again.
  private static let mostLosses = 5
  /// The pause before a busy server is asked again, in milliseconds.
  private static let busyPause = 500

  /// - Parameter folder: a folder for large temporary files.
  init(_ record: FileRecord, _ opened: OpenedFile, in folder: String) {
    (self.record, self.opened, self.folder) = (record, opened, folder)
  }

  private var server: RemoteServer { record.server }

  func isOfFile(_ record: FileRecord) -> Bool { self.record.path == record.path }

  func isOf(_ opened: OpenedFile, _ record: FileRecord) -> Bool { isOfFile(record) && self.opened.isSame(as: opened) }

  /// The report of the copy while it is being made.
  var activity: WorkReport.Activity? {
    guard content.end == nil else { return nil }
    return WorkReport.Activity(
      .download, path: String(decoding: record.path, as: UTF8.self),
      progress: (state.withLock { $0.received }, opened.size), seconds: Int((HTTPClient.now - began) / 1_000_000_000))
  }

  /// Requests the file. Does not block.
  func start() {
    content.whenAbandoned { [weak self] in
      guard let self else { return }
      server.wire.cancel(self)
      state.withLock { $0 = State() }
    }
    server.help { [self] in
      do throws(Fault) {
        let file = try TemporaryFile(in: folder)
        try file.withDescriptor { (descriptor) throws(Fault) in
          do throws(Fault) {
            try FileChanges.allocate(descriptor, mode: 0, offset: 0, count: opened.size)
          } catch { if error.kind != .system(EOPNOTSUPP) { throw error } }
        }
        state.withLock { $0.file = file }
      } catch { return fail(Self.fault(error, folder)) }
      attempt()
    }
  }

  private static func fault(_ fault: Fault, _ folder: String) -> Fault {
    guard case .system(let code) = fault.kind else { return fault }
    return Fault(
      .system(code), "cannot copy the file to \(folder): \(describe(code)) (set TMPDIR to a folder with room)")
  }

  private func attempt() {
    if content.hasFailed { return }
    state.withLock { state in
      (state.parts, state.waiting, state.received) = ([], 0, 0)
      (state.isPaused, state.fault, state.outcome) = (false, nil, nil)
    }
    server.wire.start(server.interface.file(at: record.path), token: server.token, self)
  }

  private func fail(_ fault: Fault) {
    record.note(fault)
    state.withLock { $0.file = nil }
    content.finish(.failure(fault))
  }

  // MARK: Receiver

  func begin(_ head: AnswerHead) -> Bool {
    server.availability.noteAnswer()
    let fault: Fault?
    switch head.status {
    // A body of another size would be cut or lengthened.
    case 200 where !head.isEncoded && head.part == nil && head.length == opened.size && opened.isOf(head): fault = nil
    case 200, 206, 404, 412: fault = .stale
    case 429, 502, 503, 504: fault = .later
    default: fault = server.fault(RepeatedRequest.Answer(head: head, body: [], isCut: false))
    }
    state.withLock { $0.fault = fault }
    return fault == nil
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
    let piece = unsafe Array(bytes)
    let (taking, mustWrite) = state.withLock { state -> (Taking, Bool) in
      let offset = state.received + Int64(state.waiting)
      guard Int64(piece.count) <= opened.size - offset else { return (.ended, false) }
      guard state.waiting < Self.mostWaiting else {
        state.isPaused = true
        return (.later, false)
      }
      state.parts.append(piece)
      state.waiting += piece.count
      defer { state.isWriting = true }
      return (.taken, !state.isWriting)
    }
    if mustWrite { server.help { [self] in write() } }
    return taking
  }

  func end(_ outcome: Outcome) {
    let isWritten = state.withLock { state in
      state.outcome = outcome
      return !state.isWriting
    }
    if isWritten { conclude(outcome) }
  }

  // MARK: Writing

  /// Writes the received bytes. Blocks on the disk.
  private func write() {
    while true {
      let (file, part, offset, resumes, outcome) = state.withLock {
        state -> (TemporaryFile?, [UInt8]?, Int64, Bool, Outcome?) in
        guard let part = state.parts.first else {
          state.isWriting = false
          return (nil, nil, 0, false, state.outcome)
        }
        state.parts.removeFirst()
        let resumes = state.isPaused && state.waiting <= Self.mostWaiting / 2
        if resumes { state.isPaused = false }
        return (state.file, part, state.received, resumes, nil)
      }
      if resumes { server.wire.resume(self) }
      guard let part else {
        if let outcome { conclude(outcome) }
        return
      }
      guard let file, write(part, at: offset, to: file) else { return }
    }
  }

  /// Returns whether the bytes have been written, and can be those of the version.
  private func write(_ part: [UInt8], at offset: Int64, to file: TemporaryFile) -> Bool {
    do throws(Fault) {
      let known = opened.head.dropFirst(Int(min(offset, Int64(opened.head.count))))
      guard zip(known, part).allSatisfy({ $0 == $1 }) else { throw Fault.stale }
      try file.write(part, at: offset)
    } catch {
      server.wire.cancel(self)
      fail(Self.fault(error, folder))
      return false
    }
    state.withLock { state in
      state.received += Int64(part.count)
      state.waiting -= part.count
    }
    return true
  }

  /// Ends an attempt, all of whose bytes have been written.
  private func conclude(_ outcome: Outcome) {
    let (file, received, fault) = state.withLock { ($0.file, $0.received, $0.fault) }
    let address = server.address.text
    switch outcome {
    case .complete where fault == nil && received == opened.size:
      // A server may read a file that is being changed.
      verify { [self] in if let file { content.finish(.success(file)) } }
    case .complete where fault == nil, .lost: again("it sent too little data")
    case .complete, .stopped:
      if let fault, fault.kind != .later { return fail(fault) }
      guard fault != nil else {
        return fail(Fault(.system(EIO), "the server \(address) sent more data than announced"))
      }
      let now = HTTPClient.now
      let since = state.withLock { state in
        state.busySince = state.busySince ?? now
        return state.busySince ?? now
      }
      guard now - since < UInt64(server.waitSeconds) * 1_000_000_000 else {
        return fail(Fault(.system(EIO), server.availability.sentence("it is too busy")))
      }
      server.wire.after(milliseconds: Self.busyPause) { self.attempt() }
    case .away(let reason):
      guard let pause = server.availability.noteAbsence(reason) else {
        return fail(Fault(.system(EIO), server.availability.sentence(reason)))
      }
      server.wire.after(milliseconds: pause) { self.attempt() }
    case .silent:
      server.availability.noteSilence()
      fail(Fault(.system(EIO), server.availability.sentence("it does not answer")))
    case .failed(let reason): fail(Fault(.system(EIO), "the server \(address) cannot be read: \(reason)"))
    }
  }

  /// Begins again after a lost connection.
  private func again(_ reason: String) {
    let pause = state.withLock { state in
      state.losses += 1
      return state.losses < Self.mostLosses ? server.availability.pause(since: &state.lostSince) : nil
    }
    guard let pause else { return fail(Fault(.system(EIO), server.availability.sentence(reason))) }
    server.wire.after(milliseconds: pause) { self.attempt() }
  }

  /// Calls `done` if the server still has the version.
  private func verify(_ done: @escaping @Sendable () -> Void) {
    let exchange = FileRecord.start(of: server.interface.file(at: record.path), unlike: opened)
    let call = RepeatedRequest(server, exchange, limit: FileRecord.headSize, takesStart: true) { [self] result in
      do throws(Fault) {
        let answer = try result.get()
        if answer.head.status != 304, try !FileRecord.opened(answer, server).isSame(as: opened) { throw Fault.stale }
        done()
      } catch { fail(error) }
    }
    call.start()
  }
}
