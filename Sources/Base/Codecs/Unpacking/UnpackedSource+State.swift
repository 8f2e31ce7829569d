internal import Bytes

extension UnpackedSource {
  struct State {
    var isLoaded = false
    var table: UnpackingTable?
    /// The restart points in the file's order. The first is the start of the file.
    var places: [FileRestartPoint] = [.start]
    /// The minimum distance of restart points within a gzip member, in bytes of output.
    var spacing = UnpackedSource.length
    /// The output offset of the last stored restart point within a gzip member.
    var stored: Int64 = 0
    var cost = 0
    /// The output offset up to which restart points are recorded.
    var reach: Int64 = 0
    var end: FirstPassResult?
    var checks = PartChecks()
    /// The idle decoders, the one used last at the end.
    var idle: [Cursor] = []
    var hasTriedSpool = false
    /// The spool. Nil also if its descriptor was needed for others; the blocks in `spooled` are then lost.
    weak var spool: (any Spool)?
    var spooled: Set<Int64> = []
  }

  /// A decoder and its position in the decoded bytes. Several decoders serve readers at different offsets.
  final class Cursor: @unchecked Sendable {
    // Sendable: a cursor is in `idle`, which is accessed with a lock held, or belongs to the thread that has taken it
    // from there.
    var unpacker: any Unpacker
    /// The offset of the next decoded byte.
    var position: Int64
    /// The offset of the first decoded byte of the current part.
    var partStart: Int64
    /// The end of a damaged part, up to which filler replaces bytes that cannot be decoded.
    var gapEnd: Int64?
    /// Whether decoding cannot continue.
    var isOver = false
    /// The offset of the last restart point.
    var placed: Int64

    init(_ unpacker: any Unpacker, at place: FileRestartPoint) {
      self.unpacker = unpacker
      position = place.output
      partStart = max(0, place.output - (place.inflation?.size ?? 0))
      placed = place.output
    }
  }
}

extension UnpackedSource.State {
  func place(before offset: Int64) -> FileRestartPoint {
    places[max(0, places.partitionIndex { $0.output <= offset } - 1)]
  }

  /// Returns the end of the part that starts at a byte, as the file records it. Returns `nil` if it does not.
  func partEnd(from start: Int64) -> Int64? {
    guard let table else { return nil }
    let next = table.places.partitionIndex { $0.output <= start }
    return next < table.places.count ? table.places[next].output : table.size
  }

  /// Returns the first part in a range whose checksum has not been compared. Considers only parts with a known end and
  /// at most `length` bytes.
  func openPart(in range: Range<Int64>, atMost length: Int64) -> Range<Int64>? {
    var start = range.lowerBound
    while table != nil, start < range.upperBound, let open = checks.firstOpen(in: start..<range.upperBound) {
      let first = place(before: open).output
      guard let end = partEnd(from: first), end > open else { return nil }
      if end - first <= length { return first..<end }
      start = end
    }
    return nil
  }

  /// A part whose checksum has not been compared and at least half of which a decoder has decoded.
  var begunPart: Range<Int64>? {
    for cursor in idle {
      guard let end = partEnd(from: cursor.partStart), end - cursor.position <= cursor.position - cursor.partStart,
        checks.firstOpen(in: cursor.partStart..<end) != nil
      else { continue }
      return cursor.partStart..<end
    }
    return nil
  }

  /// Returns whether only one thread should decode to an offset.
  func needsPass(to offset: Int64) -> Bool {
    end == nil && offset + Int64(BlockTable.length) > reach
      || offset - place(before: offset).output > UnpackedSource.farthest
  }

  /// Returns whether a restart point is far enough from others to be worth its memory.
  func wantsPlace(at output: Int64, isBetweenParts: Bool) -> Bool {
    let next = places.partitionIndex { $0.output <= output }
    let distance = isBetweenParts ? UnpackedSource.length / 2 : spacing
    return output - places[max(0, next - 1)].output >= distance
      && (next == places.count || places[next].output - output >= distance)
  }

  /// Records a restart point. Beyond the budget, the distance of the points is doubled.
  mutating func note(_ place: FileRestartPoint, atMost limit: Int) {
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
