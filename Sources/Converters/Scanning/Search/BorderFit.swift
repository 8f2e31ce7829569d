/// One side of a page, fitted to the strongest changes of the picture near it. It is a parabola, because lenses bend
/// straight lines.
struct BorderFit {
  /// The share of the visible side that is an edge, from 0 to 1.
  private(set) var coverage: Float = 0
  /// The mean difference of the colours inside and outside, in levels.
  private(set) var step = SIMD4<Float>.zero
  /// The uniformity of the colour difference along the side, from 0 to 1.
  private(set) var coherence: Float = 0
  /// The mean difference of the lightest colours nearby inside and outside. These are the colours of paper and table,
  /// without print.
  private(set) var ground = SIMD4<Float>.zero
  /// The uniformity of the difference of the lightest colours along the side, from 0 to 1.
  private(set) var groundCoherence: Float = 0
  /// The darkness of the side itself relative to the lightest colours on both sides, from 0 to 1. High for a printed
  /// rule.
  private(set) var ruling: Float = 0
  /// The mean colour inside.
  private(set) var inside = SIMD4<Float>.zero
  /// The change of colour along the side, inside and outside, in levels.
  private(set) var (innerRoughness, outerRoughness): (Float, Float) = (0, 0)
  /// The extent to which the same edge continues beyond both ends, from 0 to 1.
  private(set) var overrun: Float = 0
  /// The part of the side that the picture shows.
  private(set) var visible: Float = 0

  private let from: Point
  private let along: Point
  private let inwards: Point
  /// The distances inwards at the start and at the end, and the additional distance in the middle.
  private var (first, last, bulge) = (0.0, 0.0, 0.0)

  private static let count = 48

  /// - Parameter reach: the maximum distance of the side from the line between the points, in pixels.
  init(from: Point, to: Point, reach: Int, in picture: Picture) {
    self.from = from
    along = to - from
    inwards = Point(-along.y, along.x) * (1 / max(1e-9, along.length))
    let profiles = Profiles(self, reach: reach, in: picture)
    fit(profiles)
    measure(profiles)
    compareGrounds(in: picture)
    follow(in: picture)
  }

  /// Creates a side that is not visible.
  init(unseenFrom from: Point, to: Point) {
    self.from = from
    along = to - from
    inwards = Point(-along.y, along.x) * (1 / max(1e-9, along.length))
  }

  private static func place(_ sample: Int) -> Double { (Double(sample) + 0.5) / Double(count) }

  private func distance(at t: Double) -> Double { first * (1 - t) + last * t + 4 * bulge * t * (1 - t) }

  private func point(at t: Double) -> Point { from + along * t + inwards * distance(at: t) }

  private func direction(at t: Double) -> Point { along + inwards * (last - first + 4 * bulge * (1 - 2 * t)) }

  /// Returns the point where this side ends and the next one begins.
  func corner(with next: BorderFit) -> Point {
    var (s, t) = (1.0, 0.0)
    var corner = point(at: s)
    for _ in 0..<4 {
      let (p, u, q, v) = (point(at: s), direction(at: s), next.point(at: t), next.direction(at: t))
      let across = u.cross(v)
      guard abs(across) > 1e-6 * u.length * v.length else { break }
      s = min(1.3, max(0.7, s + (q - p).cross(v) / across))
      t = min(0.3, max(-0.3, t + (q - p).cross(u) / across))
      corner = (point(at: s) + next.point(at: t)) * 0.5
    }
    return corner
  }

  /// Samples of the colours near the side.
  private struct Profiles {
    let reach: Int
    /// The number of pixels compared on each side of an edge.
    static let depth = 4
    /// The maximum width of ink: narrower areas darker than their surroundings are ink.
    private static let ink = 9
    /// The colours of each sample, from outside to inside. Empty if a part is outside the picture.
    var colours: [[SIMD4<Float>]] = []
    /// The change of colour at each distance from `-reach` to `reach`, in levels.
    var changes: [[Float]] = []

    init(_ side: BorderFit, reach: Int, in picture: Picture) {
      self.reach = reach
      let room = reach + Self.depth
      let step = side.along * (1 / max(1e-9, side.along.length))
      for sample in 0..<BorderFit.count {
        let middle = side.point(at: BorderFit.place(sample))
        var row: [SIMD4<Float>] = []
        for away in -room...room {
          let place = middle + side.inwards * Double(away)
          guard picture.contains(place) else { continue }
          let sum =
            picture.pixel(at: place) + picture.pixel(at: place - step * 1.5) + picture.pixel(at: place + step * 1.5)
          row.append(sum * Float(1.0 / 3))
        }
        if row.count < 2 * room + 1 { row = [] }
        colours.append(row)
        changes.append(row.isEmpty ? [] : Self.changes(row, reach: reach))
      }
    }

    /// Returns the changes, mostly those that remain without ink, since a frame printed near the border is not the
    /// border.
    private static func changes(_ row: [SIMD4<Float>], reach: Int) -> [Float] {
      let paper = closed(row)
      return (depth..<(row.count - depth)).map { 0.9 * length(step(paper, at: $0)) + 0.1 * length(step(row, at: $0)) }
    }

    private static func closed(_ row: [SIMD4<Float>]) -> [SIMD4<Float>] {
      let lightest = row.indices.map { index -> SIMD4<Float> in
        let near = row[max(0, index - ink / 2)...min(row.count - 1, index + ink / 2)]
        return near.reduce(row[index]) { $1.x > $0.x ? $1 : $0 }
      }
      return row.indices.map { index in
        let near = lightest[max(0, index - ink / 2)...min(row.count - 1, index + ink / 2)]
        return near.reduce(lightest[index]) { $1.x < $0.x ? $1 : $0 }
      }
    }

    static func length(_ colour: SIMD4<Float>) -> Float { (colour * colour).sum().squareRoot() }

    /// Returns the colour inside minus the colour outside.
    static func step(_ row: [SIMD4<Float>], at index: Int) -> SIMD4<Float> {
      let inner = row[index + 1] + row[index + 2] + row[index + 3]
      let outer = row[index - 1] + row[index - 2] + row[index - 3]
      return (inner - outer) * Float(1.0 / 3)
    }
  }

  /// Fits the parabola along which the colours change the most.
  private mutating func fit(_ profiles: Profiles) {
    let greatest = profiles.changes.filter { !$0.isEmpty }.map { $0.max() ?? 0 }.sorted()
    visible = Float(greatest.count) / Float(Self.count)
    guard greatest.count > 5 else { return }
    let usual = 1 + 0.5 * greatest[greatest.count / 2]
    // No change counts much more than the usual edge: a pen across the border must not bend it.
    let scores = profiles.changes.map { $0.map { $0 / ($0 + usual) } }
    let reach = profiles.reach
    let places = (0..<Self.count).map(Self.place)
    func score(_ first: Int, _ last: Int, _ bulge: Int) -> Float {
      var sum: Float = 0
      for sample in 0..<Self.count where !scores[sample].isEmpty {
        let t = places[sample]
        let away = Double(first) * (1 - t) + Double(last) * t + 4 * Double(bulge) * t * (1 - t)
        let index = Int((away + Double(reach) + 0.5).rounded(.down))
        if index >= 0, index <= 2 * reach { sum += scores[sample][index] }
      }
      return sum - 0.15 * Float(abs(bulge))
    }
    var best = (score: score(0, 0, 0), first: 0, last: 0, bulge: 0)
    func attempt(_ first: Int, _ last: Int, _ bulge: Int) {
      let here = score(first, last, bulge)
      if here > best.score { best = (here, first, last, bulge) }
    }
    for first in stride(from: -reach, through: reach, by: 2) {
      for last in stride(from: -reach, through: reach, by: 2) {
        for bulge in stride(from: -reach, through: reach, by: 3) { attempt(first, last, bulge) }
      }
    }
    for _ in 0..<2 {
      let (first, last, bulge) = (best.first, best.last, best.bulge)
      for a in -1...1 { for b in -1...1 { for c in -1...1 { attempt(first + a, last + b, bulge + c) } } }
    }
    // An edge at 0 is in the middle of the pixel there.
    (first, last, bulge) = (Double(best.first), Double(best.last), Double(best.bulge))
  }

  private mutating func follow(in picture: Picture) {
    let strength = (step * step).sum()
    guard strength > 0.01 else { return }
    var (sum, count): (Float, Float) = (0, 0)
    for sample in 0..<16 {
      let beyond = 0.02 + 0.02 * Double(sample / 2)
      let middle = point(at: sample % 2 == 0 ? -beyond : 1 + beyond)
      let (inner, outer) = (middle + inwards * 3, middle - inwards * 3)
      guard picture.contains(inner), picture.contains(outer) else { continue }
      let here = picture.pixel(at: inner) - picture.pixel(at: outer)
      sum += min(1, max(0, (here * step).sum() / strength))
      count += 1
    }
    overrun = sum / max(1, count)
  }

  private mutating func compareGrounds(in picture: Picture) {
    var (all, count): (Float, Float) = (0, 0)
    for sample in 0..<Self.count {
      let middle = point(at: Self.place(sample))
      guard let inner = lightest(from: middle, 1, picture), let outer = lightest(from: middle, -1, picture) else {
        continue
      }
      ground += inner - outer
      let here = (-2...2).map { picture.pixel(at: middle + inwards * Double($0)).x }.min() ?? 0
      let depth = max(0, min(inner.x, outer.x) - here)
      ruling += depth / (depth + 2 + 0.1 * inner.x)
      all += Profiles.length(inner - outer)
      count += 1
    }
    groundCoherence = Profiles.length(ground) / max(1e-3, all)
    ground *= 1 / max(1, count)
    ruling /= max(1, count)
  }

  private func lightest(from middle: Point, _ sign: Double, _ picture: Picture) -> SIMD4<Float>? {
    var best: SIMD4<Float>?
    for away in 4...16 {
      let place = middle + inwards * (sign * Double(away))
      guard picture.contains(place) else { break }
      let pixel = picture.pixel(at: place)
      if pixel.x > best?.x ?? -1 { best = pixel }
    }
    return best
  }

  private mutating func measure(_ profiles: Profiles) {
    let (reach, room) = (profiles.reach, profiles.reach + Profiles.depth)
    var (count, covered): (Float, Float) = (0, 0)
    var all: Float = 0
    var before: (inner: SIMD4<Float>, outer: SIMD4<Float>)?
    var pairs: Float = 0
    let steps = profiles.colours.indices.compactMap { sample -> (Int, Int)? in
      let away = Int((distance(at: Self.place(sample)) + 0.5).rounded(.down))
      return profiles.colours[sample].isEmpty || abs(away) > reach ? nil : (sample, away)
    }
    guard !steps.isEmpty else { return }
    let changes = steps.map { profiles.changes[$0.0][$0.1 + reach] }.sorted()
    let usual = changes[changes.count / 2]
    for (sample, away) in steps {
      let row = profiles.colours[sample]
      let (inner, outer) = (row[away + room + Profiles.depth], row[away + room - Profiles.depth])
      let difference = Profiles.step(row, at: away + room)
      let change = profiles.changes[sample]
      let here = change[away + reach]
      // An edge is sharp: the change is smaller some pixels away.
      let beside = max(change[max(0, away + reach - 4)], change[min(2 * reach, away + reach + 4)])
      if here > 1.5, here > 0.4 * usual, here > beside { covered += 1 }
      step += difference
      all += Profiles.length(difference)
      inside += inner
      count += 1
      if let before {
        innerRoughness += Profiles.length(inner - before.inner)
        outerRoughness += Profiles.length(outer - before.outer)
        pairs += 1
      }
      before = (inner, outer)
    }
    coverage = covered / count
    coherence = Profiles.length(step) / max(1e-3, all)
    step *= 1 / count
    inside *= 1 / count
    innerRoughness /= max(1, pairs)
    outerRoughness /= max(1, pairs)
  }
}
