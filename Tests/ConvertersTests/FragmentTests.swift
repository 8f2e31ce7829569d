import Testing

@testable import Media

/// The times of a film's fragments, whatever optional fields their boxes have.
@Suite struct FragmentTests {
  private static func big(_ value: Int, _ width: Int = 4) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * (width - 1 - $0))) }
  }

  private static func box(_ name: String, _ body: [UInt8]...) -> [UInt8] {
    let body = body.flatMap { $0 }
    return big(body.count + 8) + Array(name.utf8) + body
  }

  private static func track(isWide: Bool = false, number: Int = 2, scale: Int = 1000) -> [UInt8] {
    let times = [UInt8](repeating: 9, count: isWide ? 16 : 8)
    let version = big(isWide ? 1 << 24 : 0)
    return box(
      "trak", box("tkhd", version, times, big(number), big(0)),
      box("mdia", box("mdhd", version, times, big(scale), big(0)), box("hdlr", big(0), big(0), Array("vide".utf8))))
  }

  private static func header(_ given: Int, number: Int = 2) -> [UInt8] {
    box(
      "tfhd", big(given), big(number), given & 1 != 0 ? big(0x0101_0101) + big(0x0202_0202) : [],
      given & 2 != 0 ? big(3) : [], given & 8 != 0 ? big(7) : [], given & 0x10 != 0 ? big(5) : [],
      given & 0x20 != 0 ? big(0x1_0000) : [])
  }

  @Test(arguments: [false, true]) func trackIsReadInBothVersions(isWide: Bool) throws {
    let track = try #require(FragmentTrack(of: Self.track(isWide: isWide)[...]))
    #expect(track.number == 2 && track.timeScale == 1000)
    #expect(FragmentTrack(of: Self.track(isWide: isWide, number: 0)[...]) == nil)
    #expect(FragmentTrack(of: Self.track(isWide: isWide, scale: 0)[...]) == nil && FragmentTrack(of: []) == nil)
  }

  /// All combinations of the optional fields before the samples.
  @Test(arguments: 0..<32) func usualValuesAreRead(_ number: Int) throws {
    let given = [1, 2, 8, 0x10, 0x20].enumerated().reduce(0) { $0 | (number >> $1.offset & 1 != 0 ? $1.element : 0) }
    let track = try #require(FragmentTrack(of: Self.track()[...]))
    for isWide in [false, true] {
      let start = Self.box("tfdt", Self.big(isWide ? 1 << 24 : 0), Self.big(100, isWide ? 8 : 4))
      for run in [0, 1, 4, 5] {
        let samples = Self.box(
          "trun", Self.big(run), Self.big(3), run & 1 != 0 ? Self.big(0x0300_0000) : [], run & 4 != 0 ? Self.big(0) : []
        )
        let moof = Self.box("mfhd", Self.big(0)) + Self.box("traf", Self.header(given), start, samples)
        let fragment = try #require(Fragment(of: track, moof[...]))
        #expect(fragment.time == 100 && fragment.end == 100 + (given & 8 != 0 ? 21 : 0), "\(given)")
        #expect(fragment.standsAlone == (run & 4 != 0 || given & 0x20 == 0), "\(given), \(run)")
      }
    }
  }

  /// The fields of three samples, of which the first is a key frame.
  private static func samples(_ fields: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<3 {
      if fields & 0x100 != 0 { bytes += big(10 + index) }
      if fields & 0x200 != 0 { bytes += big(1 << 20) }
      if fields & 0x400 != 0 { bytes += big(index == 0 ? 0 : 0x1_0000) }
      if fields & 0x800 != 0 { bytes += big(1 << 20) }
    }
    return bytes
  }

  /// All combinations of the fields of samples.
  @Test(arguments: 1..<16) func samplesAreAdded(_ number: Int) throws {
    let track = try #require(FragmentTrack(of: Self.track()[...]))
    let fields = number << 8
    let start = Self.box("tfdt", Self.big(0), Self.big(100))
    for first in [nil, 0, 0x1_0000] as [Int?] {
      let given = fields | 1 | (first == nil ? 0 : 4)
      let firstFlags = first.map { Self.big($0) } ?? []
      let run = Self.box(
        "trun", Self.big(given), Self.big(3), Self.big(0x0300_0000), firstFlags, Self.samples(fields))
      // Another track's part precedes it.
      let other = Self.box("traf", Self.header(8, number: 1), start, run)
      let moof = other + Self.box("traf", Self.header(0x28), start, run, run)
      let fragment = try #require(Fragment(of: track, moof[...]))
      #expect(fragment.end - fragment.time == 2 * (fields & 0x100 != 0 ? 33 : 21), "\(fields)")
      let standsAlone = first.map { $0 == 0 } ?? (fields & 0x400 != 0)
      #expect(fragment.standsAlone == standsAlone, "\(fields)")
    }
    #expect(Fragment(of: track, Self.box("traf", Self.header(0, number: 1), start)[...]) == nil)
  }

  /// The index has room for all parts that are added, and no more.
  @Test(arguments: [0, 1, 5, 59.5, 3600, 1e6, 1e9, -1, .infinity]) func indexHasItsSize(_ seconds: Double) throws {
    let track = try #require(FragmentTrack(of: Self.track()[...]))
    var index = FragmentIndex(track, seconds: seconds)
    let capacity = (index.size - 48) / 12
    for number in 0..<(min(capacity, 5000) + 5) {
      let time = number * 1_000_000_000
      let moof = Self.box(
        "traf", Self.header(8), Self.box("tfdt", Self.big(1 << 24), Self.big(time, 8)),
        Self.box("trun", Self.big(0), Self.big(1)))
      index.add(try #require(Fragment(of: track, moof[...])), at: Int64(number) * 10)
      if number < 5 || number >= capacity - 2 {
        let bytes = index.bytes(upTo: Int64(number + 1) * 10)
        #expect(bytes.count == index.size && bytes[4..<8].elementsEqual("sidx".utf8), "\(number)")
        var reader = BoxReader(bytes.dropFirst(36))
        #expect(reader.number(4) == UInt64(min(number + 1, capacity)))
      }
    }
    // What is too large for the index leaves it empty.
    #expect(index.bytes(upTo: 1 << 40)[4..<8].elementsEqual("free".utf8))
  }
}
