internal import Bytes
internal import Glibc
internal import Synchronization
internal import Threads

/// The exclusive right to decode a part that is kept in the spool. Other threads that need the part wait.
///
/// Lock order: after `turns`, never with `passTurn`.
final class PartClaim: Sendable {
  /// The end of the part, as an offset in the decoded file.
  let end: Int64
  private let claimed: Monitor<Set<Int64>>

  /// The maximum number of parts of a file that are decoded concurrently. Their dictionaries take memory.
  private static let most = 2

  /// Claims a part. Blocks while other threads decode this part, or the maximum number of parts.
  init(of end: Int64, in claimed: Monitor<Set<Int64>>) throws(Fault) {
    try claimed.take { $0.count < Self.most && $0.insert(end).inserted ? () : nil }
    self.end = end
    self.claimed = claimed
  }

  deinit { _ = claimed.update { $0.remove(end) } }
}

extension UnpackedSource {
  private static let finishers = ThreadPool(atMost: min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 4))

  /// Returns the end of a short, spooled part if the reader jumps into the middle of it. Returns `nil` otherwise.
  ///
  /// Decoding the whole part at once avoids starting over for each later read that is farther ahead.
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

  /// Decodes the rest of a part into the spool, as far as possible, in the background.
  func finishPart(_ cursor: Cursor, _ claim: PartClaim) {
    Self.finishers.submit { [self] in
      defer { withExtendedLifetime(claim) {} }
      do throws(Fault) {
        while cursor.position < claim.end, try advance(cursor, until: .max) != nil {}
        giveBack(cursor)
      } catch {
        // The next read of these bytes gets the fault again.
      }
    }
  }
}
