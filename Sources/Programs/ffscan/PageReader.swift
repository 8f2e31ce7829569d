internal import Catalogue
internal import Images
internal import Pixels
internal import Recognition
internal import Scanning
internal import WorkerKit

/// Recognises the text of pictures: as a whole, and of photos also on the page in them, straightened.
struct PageReader {
  private let recognizer: Recognizer
  private let languages: ReadingLanguages
  /// The number of pictures read, and those that were read on the page in them.
  private var count = 0
  private var straightened: [(number: Int, page: Double, whole: Double)] = []

  /// The mean confidence from which a level page in a picture is not read by itself: the picture is flat already.
  private static let sure = 90.0
  /// The factor by which a page has to be read better than the whole picture, whose words are in their true places.
  private static let leastGain = 1.02
  /// The confidence that does not count for a text: letters below it are likely wrong.
  private static let leastMean = 50.0

  init(_ recognizer: Recognizer, _ languages: ReadingLanguages) {
    self.recognizer = recognizer
    self.languages = languages
  }

  /// Recognises a picture. If a page stands out in it, the surer one of the two texts is returned, with the words where
  /// they are in the picture.
  mutating func read(_ picture: PagePixels) throws(JobFailure) -> RecognizedPage {
    count += 1
    let whole = try recognizer.recognize(picture.samples, density: picture.density, in: languages)
    guard let page = try onPage(in: picture.samples, like: whole),
      Self.weight(of: page) > Self.leastGain * Self.weight(of: whole)
    else { return whole }
    straightened.append((count, page.certainty.mean, whole.certainty.mean))
    return page
  }

  /// The text of the page in a photo; nil if no page stands out.
  private func onPage(in photo: Samples, like whole: RecognizedPage) throws(JobFailure) -> RecognizedPage? {
    guard let found = PageFinder.page(in: photo), !found.isWhole(of: photo.width, photo.height),
      whole.certainty.mean < Self.sure || !found.isLevel,
      let clean = try? PageCleaner.clean(photo, to: found, .gray), let projection = clean.projection
    else { return nil }
    return try recognizer.recognize(clean.samples, density: clean.dotsPerInch, in: languages)
      .placed(in: photo.width, photo.height, density: whole.density) { place in
        let image = projection.image(of: place.x, place.y)
        return Recognition.Point(x: image.x, y: image.y)
      }
  }

  /// How much of a text is certainly right.
  private static func weight(of page: RecognizedPage) -> Double {
    let (letters, mean) = page.certainty
    return Double(letters) * max(0, mean - leastMean)
  }

  /// The end of a sentence that starts with the file's name; empty if all pictures were read as a whole.
  var remark: String {
    guard let first = straightened.first else { return "" }
    func percent(_ share: Double) -> String { "\(Int(share.rounded())) %" }
    let certainty = "\(percent(first.page)) sure, as a whole \(percent(first.whole))"
    if count == 1 { return "is read as a photo of a page, which was straightened (\(certainty))" }
    let others = straightened.count > 1 ? " and \(straightened.count - 1) more" : ""
    return "has photos of pages, which were straightened to be read: page \(first.number) (\(certainty))\(others)"
  }
}
