import Catalogue
import Testing

/// The sizes that are guessed of converted files.
@Suite struct EstimateTests {
  /// The sizes of photos in HEIC and of their JPEGs, of 0.3 to 12 megapixels. The last ones are made at the qualities 30
  /// and 10.
  private static let photos: [(heic: Int64, jpeg: Int64)] = [
    (2_994_394, 2_813_867), (2_540_019, 2_032_474), (1_148_790, 1_323_981), (7_722_949, 2_803_547),
    (718_114, 354_549), (41_465, 39_922), (638_192, 2_130_461), (197_328, 1_175_272), (149_412, 1_496_245),
    (35_154, 400_665), (28_220, 277_296),
  ]

  @Test func estimatesOfPhotosAreNeitherTooSmallNorFarTooLarge() throws {
    let conversion = try #require(Conversion.images.first { $0.result == .jpeg })
    for (heic, jpeg) in Self.photos {
      let guess = conversion.estimate(fromFileOf: heic, .heic)
      #expect(guess >= jpeg, "\(heic)")
      // Photos as cameras make them.
      if heic > 1_000_000, heic < 3_000_000 { #expect(guess < jpeg * 4, "\(heic): \(guess)") }
    }
    #expect(conversion.estimate(fromFileOf: 25_000_000, .rawPhoto) == 26_048_576)
    for format in [Format.png, nil] { #expect(conversion.estimate(fromFileOf: 1000, format) == 1_056_576) }
    for format in [Format.heic, .rawPhoto, .png] {
      #expect(conversion.estimate(fromFileOf: .max, format) > 0 && conversion.estimate(fromFileOf: -1, format) > 0)
    }
  }
}
