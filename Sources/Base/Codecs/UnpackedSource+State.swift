internal import Bytes

extension UnpackedSource {
  struct State {
    var isLoaded = false
    var table: UnpackingTable?
    /// In the file's order; the first is its start.
    var places: [UnpackingPlace] = [.start]
    /// The least distance of places within a gzip member, in bytes of output.
    var spacing = UnpackedSource.length
    /// The last place within a gzip member that was stored.
    var stored: Int64 = 0
    var cost = 0
    /// Up to here places are noted.
    var reach: Int64 = 0
    var end: UnpackedEnd?
    /// Decoders that nobody uses now, the one used last at the end.
    var idle: [Cursor] = []
    var hasTriedSpool = false
    var spool: (any Spool)?
    var spooled: Set<Int64> = []
  }

  /// A decoder, and how far it has come.
  final class Cursor: @unchecked Sendable {
    // Sendable: used by one thread at a time.
    let unpacker: any Unpacker
    /// Of the next decoded byte.
    var position: Int64
    /// Whether it cannot go on.
    var isOver = false
    /// Of the last place from which decoding could be resumed.
    var placed: Int64

    init(_ unpacker: any Unpacker, at output: Int64) {
      self.unpacker = unpacker
      position = output
      placed = output
    }
  }
}

extension UnpackedSource.State {
  func place(before offset: Int64) -> UnpackingPlace {
    places[max(0, places.partitionIndex { $0.output <= offset } - 1)]
  }

  /// Whether only one thread should decode to an offset.
  func needsPass(to offset: Int64) -> Bool {
    end == nil && offset + Int64(Chunks.length) > reach
      || offset - place(before: offset).output > UnpackedSource.farthest
  }

  /// Whether a place so far from others is worth its memory.
  func wantsPlace(at output: Int64, isBetweenParts: Bool) -> Bool {
    let next = places.partitionIndex { $0.output <= output }
    let distance = isBetweenParts ? UnpackedSource.length / 2 : spacing
    return output - places[max(0, next - 1)].output >= distance
      && (next == places.count || places[next].output - output >= distance)
  }

  /// Beyond the budget, places are twice as far apart.
  mutating func note(_ place: UnpackingPlace, atMost limit: Int) {
    places.insert(place, at: places.partitionIndex { $0.output <= place.output })
    cost += place.cost
    while cost > limit, places.count > 2 {
      spacing *= 2
      var kept = Array(places.prefix(1))
      for place in places.dropFirst() where place.output - (kept.last?.output ?? 0) >= spacing { kept.append(place) }
      places = kept
      cost = kept.reduce(0) { $0 + $1.cost }
    }
  }
}
