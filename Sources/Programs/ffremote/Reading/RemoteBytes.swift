import Bytes
import Files
import Glibc
import Locks
import Tree

/// A file's bytes in the version that was opened.
final class RemoteBytes: ByteSource {
  private let record: FileRecord
  private let opened: OpenedFile
  private let ahead: RemoteReadAhead
  private let kept: KeptBlocks?
  /// The copy that is read instead. Nil before it is needed, and for most files.
  private let copy = UnfairLock<DownloadedFile?>(nil)

  private struct State {
    /// The end of the last read.
    var last: Int64 = 0
    /// Parts that were requested separately, the latest last.
    var pieces: [Piece] = []
  }

  private struct Piece: Sendable {
    let range: Range<Int64>
    let bytes: SharedFetch<[UInt8]>
  }

  private let state = UnfairLock(State())

  /// The maximum distance of a sequential read from the end of the last one, in bytes.
  private static let near: Int64 = 256 << 10
  /// The minimum size of a part that is requested separately, in bytes.
  private static let pieceSize: Int64 = 128 << 10
  private static let mostPieces = 8

  init(_ record: FileRecord, _ opened: OpenedFile) {
    self.record = record
    self.opened = opened
    kept = record.blocks(of: opened)
    ahead = RemoteReadAhead(record, opened, kept)
  }

  deinit {
    ahead.close()
    if let copy = copy.withLock({ $0 }) { record.server.downloads?.leave(copy) }
  }

  var size: Int64 { opened.size }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let count = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    let end = offset + Int64(count)
    if end <= Int64(opened.head.count) {
      unsafe part.copyBytes(from: opened.head[Int(offset)..<Int(end)])
      state.withLock { $0.last = end }
      return count
    }
    if let kept, !ahead.isAboutToHave(offset..<end), unsafe kept.read(into: part, at: offset) {
      state.withLock { $0.last = end }
      return count
    }
    do throws(Fault) { return unsafe try requested(into: part, at: offset, blocking) } catch {
      // The request may have failed because of bytes after these.
      guard case .system(EIO) = error.kind, let kept, unsafe kept.read(into: part, at: offset) else { throw error }
      return count
    }
  }

  /// Fills the buffer from the server.
  private func requested(
    into part: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    let end = offset + Int64(part.count)
    if opened.needsCopy {
      unsafe try wholeFile(blocking).read(into: part, at: offset)
      return part.count
    }
    // A read that waited for a piece is repeated. It must find the piece before it counts as a sequential one.
    if let piece = state.withLock({ Self.piece(in: &$0, covering: offset..<end) }) {
      return unsafe try copy(piece, at: offset, into: part, blocking)
    }
    let start = state.withLock { state -> Int64? in
      defer { if blocking == .immediate { state.last = max(state.last, end) } }
      let goesThrough = abs(offset - state.last) <= Self.near && ahead.isFree(for: offset)
      return goesThrough ? min(offset, max(state.last, 0)) & ~(grain - 1) : nil
    }
    if unsafe try ahead.read(into: part, at: offset, startingAt: start, blocking) { return part.count }
    let piece = state.withLock { state in
      state.last = end
      return self.piece(for: offset..<end, &state)
    }
    return unsafe try copy(piece, at: offset, into: part, blocking)
  }

  /// Returns a copy of the whole file, of a server that does not send parts.
  private func wholeFile(_ blocking: BlockingMode) throws(Fault) -> TemporaryFile {
    if let copy = copy.withLock({ $0 }) { return try copy.content.value(blocking) }
    let downloads: Downloads
    let entered: DownloadedFile
    do throws(Fault) {
      guard let all = record.server.downloads else { throw record.server.lacksParts }
      (downloads, entered) = (all, try all.enter(record, opened))
    } catch {
      record.note(error)
      throw error
    }
    let isFirst = copy.withLock { copy in
      defer { copy = copy ?? entered }
      return copy == nil
    }
    // Another thread may have been faster.
    if !isFirst { downloads.leave(entered) }
    return try entered.content.value(blocking)
  }

  private func copy(
    _ piece: Piece, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    let bytes = try piece.bytes.value(blocking)
    let first = Int(offset - piece.range.lowerBound)
    unsafe buffer.copyBytes(from: bytes[first..<first + buffer.count])
    return buffer.count
  }

  /// Returns the piece that contains a range, arrived or requested. Returns `nil` if there is none.
  private static func piece(in state: inout State, covering range: Range<Int64>) -> Piece? {
    state.pieces.removeAll { !$0.bytes.isUsable && $0.bytes.hasFailed }
    return state.pieces.last {
      $0.range.lowerBound <= range.lowerBound && range.upperBound <= $0.range.upperBound
    }
  }

  private func piece(for range: Range<Int64>, _ state: inout State) -> Piece {
    // Another reader may have requested it in the meantime.
    if let known = Self.piece(in: &state, covering: range) { return known }
    let start = range.lowerBound & ~(grain - 1)
    let end = max((range.upperBound + grain - 1) & ~(grain - 1), start + Self.pieceSize)
    let piece = Piece(range: start..<min(size, end), bytes: SharedFetch<[UInt8]>())
    if state.pieces.count >= Self.mostPieces { state.pieces.removeFirst() }
    state.pieces.append(piece)
    ask(for: piece)
    return piece
  }

  /// The number of which the ends of requested ranges are multiples, in bytes.
  private var grain: Int64 { kept == nil ? 4096 : KeptBlocks.blockSize }

  private func ask(for piece: Piece) {
    let range = piece.range
    let exchange = record.request(for: "\(range.lowerBound)-\(range.upperBound - 1)", of: opened)
    let call = RepeatedRequest(record.server, exchange, limit: range.count, takesStart: true) {
      [record, opened, kept, begun = HTTPClient.now] result in
      let outcome = Result { () throws(Fault) -> [UInt8] in
        let answer = try result.get()
        switch answer.head.status {
        case 206 where opened.isIn(answer.head) && answer.head.part?.range == range && answer.body.count == range.count:
          record.confirm(opened, askedAt: begun)
          kept?.keep(answer.body, at: range.lowerBound)
          return answer.body
        // The file has changed.
        case 200, 206, 404, 412, 416: throw opened.fault(answer.head, record.server.address.text)
        default: throw record.server.fault(answer)
        }
      }
      if case .failure(let fault) = outcome { record.note(fault) }
      piece.bytes.finish(outcome)
    }
    piece.bytes.whenAbandoned { call.cancel() }
    call.start()
  }
}
