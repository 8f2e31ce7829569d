import Catalogue
import Testing

@Suite struct ConversionChainTests {
  private static let formats = ["a", "b", "c", "d", "e"].map {
    Format($0, extensions: [], mimeType: "text/x-\($0)", family: .text)
  }

  private static func step(_ from: Int, _ to: Int, _ verb: String? = nil) -> Conversion {
    var conversion = Conversion(
      verb, from: [formats[from]], to: formats[to], size: .guess(1), programs: ["none"], meaning: ("one", "another"))
    conversion.leadsOn = true
    return conversion
  }

  /// At most three conversions follow one another, and no more than needed.
  @Test func chainsAreShort() {
    let steps = (0..<4).map { Self.step($0, $0 + 1) }
    let catalogue = Catalogue(formats: Self.formats, conversions: steps)
    func chain(_ catalogue: Catalogue, _ from: Int, _ last: Int) -> [String]? {
      catalogue.chain(from: Self.formats[from], to: steps[last])?.map(\.verb)
    }
    #expect(chain(catalogue, 2, 2) == ["d"] && chain(catalogue, 1, 2) == ["c", "d"])
    #expect(chain(catalogue, 0, 2) == ["b", "c", "d"] && chain(catalogue, 1, 3) == ["c", "d", "e"])
    #expect(chain(catalogue, 0, 3) == nil && chain(catalogue, 3, 2) == nil)
    let shorter = Catalogue(formats: Self.formats, conversions: steps + [Self.step(0, 2, "short")])
    #expect(chain(shorter, 0, 2) == ["short", "d"] && chain(shorter, 0, 3) == ["short", "d", "e"])
  }
}
