internal import Glibc

/// The straight lines of a picture, by a Hough transform in which edges vote for lines of their own direction.
struct LineSearch {
  /// The number of directions, in steps of a degree.
  private static let directions = 180
  /// The maximum error of an edge's direction, in degrees.
  private static let spread = 4

  private let cosines = (0..<directions).map { cosf(Float($0) * .pi / Float(directions)) }
  private let sines = (0..<directions).map { sinf(Float($0) * .pi / Float(directions)) }
  /// The largest offset. Offsets run from `-range` to `range`, in pixels.
  private let range: Int
  private var votes: [Float]

  init(_ edges: EdgeMap) {
    range = Int(Double(edges.width * edges.width + edges.height * edges.height).squareRoot()) + 3
    votes = [Float](repeating: 0, count: Self.directions * (2 * range + 1))
    for y in 0..<edges.height {
      for x in 0..<edges.width {
        let weight = edges.weights[y * edges.width + x]
        if weight > 0.1 { vote(Float(x) + 0.5, Float(y) + 0.5, weight, edges.angles[y * edges.width + x]) }
      }
    }
  }

  private mutating func vote(_ x: Float, _ y: Float, _ weight: Float, _ angle: Float) {
    let direction = Int(angle * Float(Self.directions) / .pi + 0.5)
    for near in (direction - Self.spread)...(direction + Self.spread) {
      let index = (near + Self.directions) % Self.directions
      let offset = x * cosines[index] + y * sines[index]
      votes[index * (2 * range + 1) + Int(offset.rounded()) + range] += weight
    }
  }

  /// Returns up to `count` lines with the most votes, each as the angle of its normal, from 0 to π, and its offset from
  /// the origin.
  func lines(atMost count: Int) -> [(angle: Double, offset: Double)] {
    let row = 2 * range + 1
    var smooth = votes
    for direction in 0..<Self.directions {
      for offset in 1..<(row - 1) {
        let at = direction * row + offset
        smooth[at] = votes[at] + 0.7 * (votes[at - 1] + votes[at + 1])
      }
    }
    var peaks: [(votes: Float, direction: Int, offset: Int)] = []
    for direction in 0..<Self.directions {
      for offset in 2..<(row - 2) {
        let here = smooth[direction * row + offset]
        if here > 4, isPeak(here, direction, offset, smooth) { peaks.append((here, direction, offset - range)) }
      }
    }
    peaks.sort { ($0.votes, $1.direction, $1.offset) > ($1.votes, $0.direction, $0.offset) }
    return peaks.prefix(count).map { (Double($0.direction) * .pi / Double(Self.directions), Double($0.offset)) }
  }

  /// Returns whether no neighbour has more votes, or the same number and comes first.
  private func isPeak(_ votes: Float, _ direction: Int, _ offset: Int, _ smooth: [Float]) -> Bool {
    let row = 2 * range + 1
    for turn in -3...3 {
      // Beyond 180 degrees, offsets change their sign.
      let (other, isTurned) =
        switch direction + turn {
        case ..<0: (direction + turn + Self.directions, true)
        case Self.directions...: (direction + turn - Self.directions, true)
        default: (direction + turn, false)
        }
      let middle = isTurned ? row - 1 - offset : offset
      for place in max(0, middle - 3)...min(row - 1, middle + 3) {
        let near = smooth[other * row + place]
        if near > votes || near == votes && (other, place) < (direction, offset) { return false }
      }
    }
    return true
  }
}
