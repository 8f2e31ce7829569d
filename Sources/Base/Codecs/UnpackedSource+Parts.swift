internal import Bytes
internal import Glibc
internal import Synchronization
internal import Threads

/// Who decodes a part that is kept in the spool; others that want something of it wait until it is there.
///
/// Lock order: after `turns`, never with `passTurn`.
final class PartClaim: Sendable {
  /// Where the part ends in the decoded file.
  let end: Int64
  private let claimed: Monitor<Set<Int64>>

  /// Decoders of that many parts of a file exist at a time: their dictionaries take memory.
  private static let most = 2

  /// Blocks while others decode the part, or as many parts as may be decoded at a time.
  init(of end: Int64, in claimed: Monitor<Set<Int64>>) throws(Fault) {
    try claimed.take { $0.count < Self.most && $0.insert(end).inserted ? () : nil }
    self.end = end
    self.claimed = claimed
  }

  deinit { _ = claimed.update { $0.remove(end) } }
}

extension UnpackedSource {
  private static let finishers = Workers(atMost: min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 4))

  /// The end of a part of which a reader jumps to the middle, if its bytes are kept in the spool, and it is not long: to decode
  /// it all at once saves to start with it again for each read that is farther on. nil otherwise.
  func endOfSpooledPart(around index: Int64) -> Int64? {
    guard packing != .gzip, index > 0, !stretches.holds(index - 1) else { return nil }
    let offset = index * Self.length
    return state.withLock { state in
      guard let end = state.end?.size, state.spool != nil || !state.hasTriedSpool else { return nil }
      let next = state.places.partitionIndex { $0.output <= offset }
      let start = state.places[max(0, next - 1)].output
      let partEnd = next < state.places.count ? state.places[next].output : end
      return offset - start >= Self.farthest && partEnd - start <= Self.longestPart ? partEnd : nil
    }
  }

  /// Decodes the rest of a part into the spool, as far as that goes, while the reader goes on.
  func finishPart(_ cursor: Cursor, _ claim: PartClaim) {
    Self.finishers.submit { [self] in
      defer { withExtendedLifetime(claim) {} }
      do throws(Fault) {
        while cursor.position < claim.end, try advance(cursor, until: .max) != nil {}
        giveBack(cursor)
      } catch {
        // Whoever reads there gets the fault again.
      }
    }
  }
}
