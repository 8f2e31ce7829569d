internal import Pixels

/// Removes specks: groups of ink pixels that are too small for a dot. Pixels that touch at a corner are connected.
struct Specks {
  private struct Run {
    let (start, end, row): (Int32, Int32, Int32)
    var parent: Int32
    var size: Int32
  }
  private var runs: [Run] = []

  /// - Parameters:
  ///   - page: a page whose ink is 0.
  ///   - size: the minimum number of pixels of a group that stays.
  static func removed(from page: Bilevel, smallerThan size: Int) -> Bilevel {
    var specks = Specks()
    specks.join(page)
    var bytes = page.bytes
    for index in specks.runs.indices where specks.runs[specks.root(of: index)].size < size {
      let run = specks.runs[index]
      for x in Int(run.start)..<Int(run.end) { bytes[Int(run.row) * page.rowSize + x >> 3] |= 0x80 >> UInt8(x & 7) }
    }
    return Bilevel(width: page.width, height: page.height, bytes: bytes) ?? page
  }

  /// Joins touching runs of ink into a forest whose roots have the sizes.
  private mutating func join(_ page: Bilevel) {
    var above = 0..<0
    for y in 0..<page.height {
      let first = runs.count
      add(row: y, of: page)
      var upper = above.lowerBound
      for index in first..<runs.count {
        while upper < above.upperBound, runs[upper].end < runs[index].start { upper += 1 }
        var touching = upper
        while touching < above.upperBound, runs[touching].start <= runs[index].end {
          merge(touching, index)
          touching += 1
        }
      }
      above = first..<runs.count
    }
  }

  private mutating func add(row y: Int, of page: Bilevel) {
    var start = -1
    for place in 0..<page.rowSize {
      let byte = page.bytes[y * page.rowSize + place]
      if byte == 0xFF, start < 0 || byte == 0, start >= 0 { continue }
      for bit in 0..<8 {
        let x = place * 8 + bit
        let isInk = x < page.width && byte & (0x80 >> UInt8(bit)) == 0
        if isInk, start < 0 { start = x }
        if !isInk, start >= 0 {
          end(start, x, y)
          start = -1
        }
      }
    }
    if start >= 0 { end(start, page.width, y) }
  }

  private mutating func end(_ start: Int, _ end: Int, _ y: Int) {
    runs.append(
      Run(start: Int32(start), end: Int32(end), row: Int32(y), parent: Int32(runs.count), size: Int32(end - start)))
  }

  private mutating func root(of index: Int) -> Int {
    var index = index
    while Int(runs[index].parent) != index {
      runs[index].parent = runs[Int(runs[index].parent)].parent
      index = Int(runs[index].parent)
    }
    return index
  }

  private mutating func merge(_ one: Int, _ other: Int) {
    let (first, second) = (root(of: one), root(of: other))
    guard first != second else { return }
    runs[max(first, second)].parent = Int32(min(first, second))
    runs[min(first, second)].size += runs[max(first, second)].size
  }
}
