internal import Catalogue
internal import Images
internal import Pixels
internal import Recognition
internal import Scanning
internal import WorkerKit

/// Recognizes the text of whole pictures, and also of a straightened page in a photo.
struct PageReader {
  private let recognizer: Recognizer
  private let languages: ReadingLanguages
  /// The number of pictures, and those whose text is that of a page in them.
  private var count = 0
  /// The pages that were recognized by jobs of their own, by number from 0.
  private let known: [Int: PageRecord]
  private var straightened: [(number: Int, page: Double, whole: Double)] = []

  /// The minimum mean confidence of a picture whose level page is not recognized separately. The picture is already
  /// flat.
  private static let sure = 90.0
  /// The minimum ratio of the page's weight to that of the whole picture, whose words are in their exact positions.
  private static let leastGain = 1.02
  /// The mean confidence below which letters do not count, since they are likely wrong.
  private static let leastMean = 50.0

  init(_ recognizer: Recognizer, _ languages: ReadingLanguages, known: [Int: PageRecord] = [:]) {
    self.recognizer = recognizer
    self.languages = languages
    self.known = known
  }

  /// Returns the text of a page that has been recognized, or recognizes it in its picture.
  mutating func read(
    page index: Int, _ picture: () throws(JobFailure) -> PagePixels
  ) throws(JobFailure) -> RecognizedPage {
    guard let record = known[index] else { return try read(picture()) }
    count += 1
    if let certainty = record.straightened { straightened.append((count, certainty.page, certainty.whole)) }
    return record.page
  }

  /// The certainty of the last picture that was read, if the text is that of a page in it.
  var lastCertainty: PageRecord.Certainty? {
    straightened.last.flatMap { $0.number == count ? PageRecord.Certainty(page: $0.page, whole: $0.whole) : nil }
  }

  /// Recognizes the text of a picture. If it shows a page, returns the surer of two results, with the positions of
  /// words in the picture.
  mutating func read(_ picture: PagePixels) throws(JobFailure) -> RecognizedPage {
    count += 1
    let whole = try recognizer.recognize(picture.samples, density: picture.density, in: languages)
    guard let page = try onPage(in: picture.samples, like: whole),
      Self.weight(of: page) > Self.leastGain * Self.weight(of: whole)
    else { return whole }
    straightened.append((count, page.certainty.mean, whole.certainty.mean))
    return page
  }

  /// Returns the text of the page in a photo. Returns `nil` if no page is found.
  private func onPage(in photo: Samples, like whole: RecognizedPage) throws(JobFailure) -> RecognizedPage? {
    guard let found = PageFinder.page(in: photo), !found.isWhole(of: photo.width, photo.height),
      whole.certainty.mean < Self.sure || !found.isLevel,
      let clean = try? PageCleaner.clean(photo, to: found, .gray), let projection = clean.projection
    else { return nil }
    return try recognizer.recognize(clean.samples, density: clean.dotsPerInch, in: languages)
      .placed(in: photo.width, photo.height, density: whole.density) { place in
        let image = projection.image(of: place.x, place.y)
        return PagePoint(x: image.x, y: image.y)
      }
  }

  /// Returns the amount of text that is certainly correct.
  private static func weight(of page: RecognizedPage) -> Double {
    let (letters, mean) = page.certainty
    return Double(letters) * max(0, mean - leastMean)
  }

  /// The end of a sentence that starts with the file's name. Empty if all pictures were recognized as a whole.
  var remark: String {
    guard let first = straightened.first else { return "" }
    func percent(_ share: Double) -> String { "\(Int(share.rounded())) %" }
    let certainty = "\(percent(first.page)) sure, as a whole \(percent(first.whole))"
    if count == 1 { return "is read as a photo of a page, which was straightened (\(certainty))" }
    let others = straightened.count > 1 ? " and \(straightened.count - 1) more" : ""
    return "has photos of pages, which were straightened to be read: page \(first.number) (\(certainty))\(others)"
  }
}
