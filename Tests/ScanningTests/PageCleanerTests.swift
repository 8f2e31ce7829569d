import Catalogue
import Glibc
import Pixels
import Testing
import WorkerKit

@testable import Scanning

@Suite(.timeLimit(.minutes(5))) struct PageCleanerTests {
  static let corners = [Point(30, 20), Point(210, 26), Point(222, 186), Point(22, 180)]

  private static func photo() throws -> Samples {
    var photo = PhotographedPage(width: 250, height: 200, table: (70, 60, 50))
    photo.lay(corners, paper: (220, 214, 200), rows: 10, shadow: 120)
    photo.fill(50..<62, 165..<176, (150, 30, 30))
    return try photo.samples()
  }

  @Test func cleaningRemovesShadowsAndKeepsColours() throws {
    let page = try PageCleaner.clean(Self.photo(), to: Quadrilateral(Self.corners), .colour).samples
    try #require(page.bands == 3)
    // Paper is white in the light, in the shadow and at the edges.
    for (u, v) in [(0.05, 0.5), (0.95, 0.5), (0.3, 0.04), (0.002, 0.3), (0.998, 0.3), (0.6, 0.998)] {
      let pixel = Self.pixel(page, u, v)
      #expect(pixel.allSatisfy { $0 > 235 }, "\(pixel) at \(u), \(v)")
    }
    let stamp = Self.pixel(page, 0.16, 0.93)
    #expect(stamp[0] > stamp[1] + 60 && stamp[0] > stamp[2] + 60, "\(stamp)")
  }

  @Test func scanFiltersYieldExpectedPixelFormats() throws {
    let (photo, page) = (try Self.photo(), try #require(Quadrilateral(Self.corners)))
    for filter in ScanFilter.allCases {
      let clean = try PageCleaner.clean(photo, to: page, filter)
      #expect(clean.samples.bands == ([.gray, .bw].contains(filter) ? 1 : 3), "\(filter)")
      #expect((clean.bilevel != nil) == (filter == .bw), "\(filter)")
      #expect(clean.samples.bytes == (try PageCleaner.clean(photo, to: page, filter)).samples.bytes, "\(filter)")
    }
    let photographed = try PageCleaner.clean(photo, to: page, .photo).samples
    #expect(abs(Int(Self.pixel(photographed, 0.05, 0.5)[0]) - 220) < 8)
    let black = try PageCleaner.clean(photo, to: page, .bw)
    let bilevel = try #require(black.bilevel)
    let ink = bilevel.bytes.reduce(0) { $0 + (~$1).nonzeroBitCount }
    // Text is a fourth of the page at least, also in the shadow, and paper has no grain.
    #expect((20...40).contains(ink * 100 / (bilevel.width * bilevel.height)))
    let whole = try PageCleaner.clean(photo, to: nil, .gray).samples
    #expect(whole.width == photo.width && whole.height == photo.height)
  }

  /// What a page lay on shows at the edges of one that was cut out; at those of a whole picture there is only the page.
  @Test func edgesOfWholePicturesAreKept() throws {
    let (width, height) = (900, 700)
    var bytes = [UInt8](repeating: 235, count: width * height)
    for y in 0..<height { for x in 0..<4 { bytes[y * width + x] = 20 } }
    for y in 100..<600 where y % 20 < 8 { for x in 100..<800 where x % 11 < 6 { bytes[y * width + x] = 30 } }
    let photo = try #require(Samples(width: width, height: height, bands: 1, bytes: bytes))
    let corners = [(0, 0), (width, 0), (width, height), (0, height)].map { Point(Double($0), Double($1)) }
    for (page, isDark) in [(nil, true), (Quadrilateral(corners), false)] {
      let clean = try PageCleaner.clean(photo, to: page, .gray).samples
      let edge = (0..<clean.height).map { clean.bytes[$0 * clean.width] }
      #expect(edge.allSatisfy { $0 < 100 } == isDark, "\(edge[0]), \(edge[edge.count / 2])")
    }
  }

  /// The border between a page and a dark surface is blurred. No gray line remains where it was, on any side.
  @Test func blurAtEdgesIsWhite() throws {
    let (width, height) = (900, 700)
    var bytes = [UInt8](repeating: 235, count: width * height)
    for y in 100..<600 where y % 20 < 8 { for x in 100..<800 where x % 11 < 6 { bytes[y * width + x] = 30 } }
    // Of every level, from that of the surface to that of paper.
    func level(_ place: Int) -> UInt8 { UInt8(20 + place * 215 / 300) }
    for place in 300..<600 {
      for (index, value) in [20, 20, level(place - 300)].enumerated() {
        for at in [
          place * width + index, place * width + width - 1 - index, index * width + place,
          (height - 1 - index) * width + place,
        ] { bytes[at] = value }
      }
    }
    let photo = try #require(Samples(width: width, height: height, bands: 1, bytes: bytes))
    let corners = [(0, 0), (width, 0), (width, height), (0, height)].map { Point(Double($0), Double($1)) }
    let page = try PageCleaner.clean(photo, to: Quadrilateral(corners), .gray).samples
    let rims = (0..<page.height).flatMap { y in
      (0..<page.width).filter { min($0, page.width - 1 - $0, y, page.height - 1 - y) < 6 }.map {
        (x: $0, y: y, level: page.bytes[y * page.width + $0])
      }
    }
    let grays = rims.filter { $0.level < 250 }
    #expect(grays.isEmpty, "\(grays.count): \(grays.prefix(5))")
  }

  @Test func specksAreRemovedAndDotsAreKept() throws {
    var bytes = [UInt8](repeating: 0xFF, count: 8 * 64)
    bytes[10 * 8 + 2] = 0b1101_1111
    bytes[11 * 8 + 2] = 0b1110_1111
    for row in 30..<34 { bytes[row * 8 + 4] = 0b1000_0111 }
    let page = try #require(Bilevel(width: 61, height: 64, bytes: bytes))
    let clean = Specks.removed(from: page, smallerThan: 8)
    #expect(clean.bytes[10 * 8 + 2] == 0xFF && clean.bytes[11 * 8 + 2] == 0xFF)
    #expect((30..<34).allSatisfy { clean.bytes[$0 * 8 + 4] == 0b1000_0111 })
  }

  /// Papers seen by the camera of a phone, 26 mm, tilted: proportions come from the perspective.
  @Test(arguments: [(8.27, 11.69), (8.5, 11), (11.69, 8.27), (3.37, 2.125), (3.15, 9.0)])
  func pageProportionsMatchThePaper(_ wide: Double, _ high: Double) throws {
    let longest = max(wide, high)
    for (tilt, turn) in [(0.0, 0.0), (0.35, 0.1), (0.5, 0.6), (-0.3, -0.2)] {
      let corners = [(-wide, -high), (wide, -high), (wide, high), (-wide, high)].map { x, y in
        let (a, b) = (x / 2 * cos(turn) - y / 2 * sin(turn), x / 2 * sin(turn) + y / 2 * cos(turn))
        let depth = 1.4 * longest + b * sin(tilt)
        return Point(2000 + 3000 * a / depth, 1500 + 3000 * b * cos(tilt) / depth)
      }
      let page = try #require(Quadrilateral(corners))
      let shape = PaperShape(of: page, in: (4000, 3000))
      let (long, short) = (Double(max(shape.width, shape.height)), Double(min(shape.width, shape.height)))
      let error = long / short / (longest / min(wide, high)) - 1
      #expect(abs(error) < 0.035, "tilted by \(tilt), turned by \(turn): \(shape)")
      if wide == 8.27 { #expect(abs(error) < 0.001 && shape.dotsPerInch <= 300.01, "\(shape)") }
    }
  }

  @Test(arguments: [-7.0, -1.3, 0.6, 4.0]) func skewIsDetectedAndCorrected(_ degrees: Double) throws {
    let (width, height, angle) = (400, 300, degrees * .pi / 180)
    var bytes = [UInt8](repeating: 240, count: width * height)
    for y in 0..<height {
      for x in 0..<width {
        let (a, b) = (Double(x) - 200, Double(y) - 150)
        let (u, v) = (a * cos(angle) + b * sin(angle), b * cos(angle) - a * sin(angle))
        if abs(u) < 170, abs(v) < 120, Int(v + 200) % 14 < 6, Int(u + 200) % 9 < 6 { bytes[y * width + x] = 30 }
      }
    }
    let page = try #require(Samples(width: width, height: height, bands: 1, bytes: bytes))
    let found = try #require(PageCleaner.skew(of: page))
    #expect(abs(found - degrees) < 0.15, "\(found)")
    let level = try PageCleaner.deskewed(page).samples
    #expect(abs(PageCleaner.skew(of: level) ?? 90) < 0.2)
  }

  @Test func anyImageIsCleanedOrRefused() throws {
    for (width, height) in [(1, 1), (1, 90), (90, 1), (7, 5)] {
      for bands in [1, 3] {
        let bytes = (0..<(width * height * bands)).map { UInt8(truncatingIfNeeded: $0 * 97) }
        let photo = try #require(Samples(width: width, height: height, bands: bands, bytes: bytes))
        for filter in ScanFilter.allCases {
          _ = try PageCleaner.clean(photo, to: nil, filter)
          _ = try PageCleaner.clean(
            photo, to: Quadrilateral([Point(0, 0), Point(1, 0), Point(1, 1), Point(0, 1)]), filter)
        }
        #expect(PageCleaner.skew(of: photo) == nil)
      }
    }
    let photo = try #require(Samples(width: 20, height: 20, bands: 3, bytes: [UInt8](repeating: 9, count: 1200)))
    // Corners far outside show white, and as many pixels as are allowed.
    let far = try #require(Quadrilateral([Point(-1e5, -1e5), Point(1e5, -9e4), Point(1e5, 1e5), Point(-1e5, 1e5)]))
    let clean = try PageCleaner.clean(photo, to: far, .photo)
    #expect(clean.samples.bytes.first == 255)
    let ink = try #require(Samples(width: 2, height: 1, bands: 4, bytes: [UInt8](repeating: 9, count: 8)))
    #expect(throws: JobFailure.self) { try PageCleaner.clean(ink, to: nil, .bw) }
  }

  private static func pixel(_ page: Samples, _ u: Double, _ v: Double) -> [UInt8] {
    let (x, y) = (Int(u * Double(page.width)), Int(v * Double(page.height)))
    return (0..<page.bands).map { page.bytes[(y * page.width + x) * page.bands + $0] }
  }
}
