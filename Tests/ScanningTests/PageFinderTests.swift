import Pixels
import Testing

@testable import Scanning

@Suite(.timeLimit(.minutes(5))) struct PageFinderTests {
  struct Photo: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let table: (UInt8, UInt8, UInt8)
    let corners: [Point]
    var shadow: Int?

    var drawn: PhotographedPage {
      var photo = PhotographedPage(width: 240, height: 200, table: table)
      photo.lay(corners, shadow: shadow)
      return photo
    }
  }

  static let photos = [
    Photo(
      testDescription: "on a dark table, seen from the side", table: (70, 50, 40),
      corners: [Point(60, 20), Point(175, 32), Point(205, 180), Point(35, 172)]),
    Photo(
      testDescription: "turned, on a table as light as paper of another colour", table: (232, 226, 190),
      corners: [Point(92, 14), Point(198, 58), Point(140, 187), Point(38, 138)]),
    Photo(
      testDescription: "half in a shadow", table: (90, 110, 90),
      corners: [Point(40, 25), Point(200, 22), Point(206, 178), Point(34, 170)], shadow: 120),
  ]

  @Test(arguments: photos) func pageCornersAreFound(_ photo: Photo) throws {
    let page = try #require(try PageFinder.page(in: photo.drawn.samples()))
    for (corner, truth) in zip(page.corners, photo.corners) {
      #expect((corner - truth).length < 3, "\(corner), not \(truth)")
    }
  }

  @Test func photoWithoutDocumentHasNoPage() throws {
    var landscape = PhotographedPage(width: 200, height: 160, table: (120, 160, 210))
    var grain = Grain()
    for column in 0..<200 {
      let horizon = 80 + column / 9 + grain.next()
      landscape.fill(column..<(column + 1), horizon..<160, (60, UInt8(90 + grain.next() * 8), 40))
    }
    #expect(try PageFinder.page(in: landscape.samples()) == nil)
    // A scan is a page as a whole.
    var scan = PhotographedPage(width: 200, height: 160, table: (250, 250, 250))
    scan.lay([Point(-30, -30), Point(230, -30), Point(230, 190), Point(-30, 190)], paper: (250, 250, 250))
    #expect(try PageFinder.page(in: scan.gray()) == nil)
  }

  @Test func severalReceiptsAreFoundInReadingOrder() throws {
    let receipts = [(20, 16), (100, 22), (178, 18)].map { left, top in
      [(left, top), (left + 48, top + 3), (left + 45, top + 120), (left - 3, top + 117)].map {
        Point(Double($0.0), Double($0.1))
      }
    }
    var photo = PhotographedPage(width: 250, height: 160, table: (60, 70, 95))
    for receipt in [receipts[2], receipts[0], receipts[1]] { photo.lay(receipt, rows: 16) }
    let pages = try PageFinder.pages(in: photo.samples())
    try #require(pages.count == 3)
    for (page, receipt) in zip(pages, receipts) {
      for (corner, truth) in zip(page.corners, receipt) {
        #expect((corner - truth).length < 4, "\(corner), not \(truth)")
      }
    }
  }

  @Test func openBookYieldsTwoPages() throws {
    var photo = PhotographedPage(width: 260, height: 190, table: (60, 45, 35))
    photo.lay([Point(20, 20), Point(130, 20), Point(130, 168), Point(20, 168)])
    photo.lay([Point(130, 20), Point(240, 20), Point(240, 168), Point(130, 168)])
    for (column, level) in [(128, 200), (129, 150), (130, 150), (131, 200)] {
      photo.fill(column..<(column + 1), 20..<168, (UInt8(level), UInt8(level), UInt8(level)))
    }
    let samples = try photo.samples()
    let pages = PageFinder.pages(in: samples)
    try #require(pages.count == 2)
    #expect(abs(pages[0].corners[1].x - 130) < 3 && abs(pages[1].corners[0].x - 130) < 3)
    #expect(abs(pages[0].corners[0].x - 20) < 3 && abs(pages[1].corners[1].x - 240) < 3)
  }

  @Test(arguments: [(1, 1), (1, 300), (300, 1), (2, 2), (3, 7), (40, 40), (5000, 2)])
  func imagesOfAnySizeAreSearched(_ width: Int, _ height: Int) throws {
    for bands in [1, 3] {
      var grain = Grain()
      let bytes = (0..<(width * height * bands)).map { _ in UInt8(truncatingIfNeeded: grain.next() * 37) }
      let photo = try #require(Samples(width: width, height: height, bands: bands, bytes: bytes))
      #expect(PageFinder.page(in: photo) == nil)
      #expect(PageFinder.pages(in: photo).isEmpty)
    }
  }
}
