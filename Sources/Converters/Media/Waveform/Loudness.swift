/// The loudness of audio in each of many short pieces, over all channels.
struct Loudness {
  struct Piece {
    var lowest: Float = 0
    var highest: Float = 0
    /// The sum of the squares.
    var sum: Double = 0
    var count = 0

    mutating func add(_ sample: Float) {
      // A damaged sample can be infinite or NaN.
      guard sample.isFinite else { return }
      lowest = min(lowest, sample)
      highest = max(highest, sample)
      sum += Double(sample * sample)
    }

    mutating func add(_ other: Piece) {
      lowest = min(lowest, other.lowest)
      highest = max(highest, other.highest)
      sum += other.sum
      count += other.count
    }

    /// The root of the mean square.
    var middle: Float { count == 0 ? 0 : Float((sum / Double(count)).squareRoot()) }
  }

  private(set) var pieces: [Piece] = []
  /// The number of samples in a piece. It is doubled when there would be too many pieces.
  private var step = 256
  private var last = Piece()

  private static let most = 65536

  /// Adds interleaved samples of all channels.
  mutating func add(_ samples: UnsafeBufferPointer<Float>) {
    for place in samples.indices {
      last.add(unsafe samples[place])
      last.count += 1
      if last.count == step { next() }
    }
  }

  private mutating func next() {
    pieces.append(last)
    last = Piece()
    guard pieces.count == Self.most else { return }
    step *= 2
    pieces = stride(from: 0, to: pieces.count, by: 2).map { place in
      var piece = pieces[place]
      piece.add(pieces[place + 1])
      return piece
    }
  }

  /// Returns the loudness in `count` pieces.
  func columns(_ count: Int) -> [Piece] {
    let all = last.count > 0 ? pieces + [last] : pieces
    guard !all.isEmpty else { return [Piece](repeating: Piece(), count: count) }
    return (0..<count).map { column in
      let first = column * all.count / count
      let end = max(first + 1, (column + 1) * all.count / count)
      return all[first..<min(end, all.count)].reduce(into: Piece()) { $0.add($1) }
    }
  }
}
