import Bytes
import Catalogue
import Jobs
import TestSupport
import Testing

extension ConversionTests {
  /// Several results by one job.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct SeriesTests {
    private static let recipes = (1...4).map { Recipe.pages(PageSelection(page: $0)) }

    private static func text(_ made: ConversionResult) throws -> String {
      String(decoding: try made.bytes(at: 0, count: Int(made.size)), as: UTF8.self)
    }

    /// Prepares a series, and returns the texts of its files.
    private static func texts(_ input: String, _ workshop: Workshop) throws -> [String] {
      workshop.renditions.prepareSeries(recipes, of: Workshop.subject(input, 1))
      return try recipes.map { try text(workshop.make(input, 1, $0)) }
    }

    @Test func filesOfASeriesAreMadeByOneJob() async throws {
      try await withWorkshop { workshop in
        #expect(workshop.renditions.comesInSeries(Self.recipes[0], of: Workshop.subject("series 4", 1)))
        let texts = try Self.texts("series 4", workshop)
        #expect(texts == (0..<4).map { "\($0) of series 4" })
        #expect(workshop.notes.value(of: .make(Self.recipes[3]), inState: 1) == 13)
        #expect(workshop.renditions.comesInSeries(Self.recipes[0], of: Workshop.subject("series 4", 1)))
      }
    }

    /// The files that a job leaves out are made by themselves, and so are all others of the source if it leaves out most.
    @Test func otherFilesAreMadeByThemselves() async throws {
      try await withWorkshop { workshop in
        let texts = try Self.texts("series 1", workshop)
        #expect(texts[0] == "0 of series 1")
        for (place, text) in texts.enumerated().dropFirst() { #expect(text.hasSuffix(" pages \(place + 1)\nseries 1")) }
        #expect(!workshop.renditions.comesInSeries(Self.recipes[0], of: Workshop.subject("series 1", 1)))
      }
    }

    /// Sizes that are not those of the output, and failures.
    @Test(arguments: [
      "series 2 12", "series 2 12,x", "series 2 -1,33", "series 2 9999999999999,1", "series 4 1,1,1,1,1", "crash",
      "fail 1 no",
    ])
    func unusableSeriesIsIgnored(_ input: String) async throws {
      try await withWorkshop { workshop in
        workshop.renditions.prepareSeries(Self.recipes, of: Workshop.subject(input, 1))
        guard input.hasPrefix("series") else {
          #expect(throws: Fault.self) { try workshop.make(input, 1, Self.recipes[1]) }
          return
        }
        let texts = try Self.recipes.map { try Self.text(workshop.make(input, 1, $0)) }
        for (place, text) in texts.enumerated() { #expect(text.hasSuffix(" pages \(place + 1)\n\(input)")) }
      }
    }
  }
}
