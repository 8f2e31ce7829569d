internal import CLeptonica
internal import CRecognition
internal import CTesseract
public import Catalogue
internal import Glibc
public import Pixels
public import WorkerKit

/// Recognizes the text of pages by Tesseract. For one thread at a time. Results do not depend on earlier pages.
@safe public final class Recognizer {
  private let data: TrainedData
  /// The most recently used languages, and the recognizer for them.
  private var languages: [String] = []
  private var reader: OpaquePointer?
  /// The detector of a page's orientation.
  private var compass: OpaquePointer?

  /// Creates a recognizer. Must be called before the sandbox closes.
  public init(_ data: TrainedData = TrainedData()) {
    self.data = data
    setMsgSeverity(Int32(L_SEVERITY_NONE))
    ffscan_recognition_prepare()
  }

  deinit {
    unsafe TessBaseAPIDelete(reader)
    unsafe TessBaseAPIDelete(compass)
  }

  /// The minimum confidence of a page that is upright text, in percent. Below it, the page may lie on its side, or have
  /// no text.
  private static let sure = 70.0
  /// The minimum confidence of a word, in percent. Below it, words are lines and stains.
  private static let leastConfidence: Float = 20
  /// The minimum mean confidence of a page, in percent. Below it, the page is a picture without words.
  private static let leastMean = 45.0

  /// The minimum side of a recognized page, in pixels.
  private static let leastSide = 8.0

  /// Returns the text of a page. Takes about a second of a processor for 2,000 letters.
  ///
  /// - Parameter density: the density in pixels per inch. Nil if unknown.
  public func recognize(
    _ samples: Samples, density: Double?, in languages: ReadingLanguages
  ) throws(JobFailure) -> RecognizedPage {
    try open(languages)
    let density = Self.plausible(density, samples)
    // Smaller pages cannot contain text, and Leptonica would have no pixels left.
    let least = Double(min(samples.width, samples.height)) * min(1, RecognitionPage.usualDensity / density)
    let empty = RecognizedPage(width: samples.width, height: samples.height, density: density, blocks: [])
    if least < Self.leastSide { return empty }
    let clean = try RecognitionPage(samples, density: density)
    func read(_ page: RecognitionPage) throws(JobFailure) -> PageText {
      let straight = try page.straightened()
      return PageText(try blocks(of: straight.picture, density: straight.density, PSM_AUTO), on: straight)
    }
    var found = try read(clean)
    if found.confidence < Self.sure, let quarters = try turn(of: clean) {
      let turned = try read(clean.turned(quarters))
      if turned.confidence > found.confidence { found = turned }
    }
    if found.confidence < Self.leastMean { return empty }
    let page = found.page
    try found.improve { (line) throws(JobFailure) in try lookAgain(at: &line, of: page) }
    return RecognizedPage(
      width: samples.width, height: samples.height, density: density,
      blocks: found.placed(within: (samples.width, samples.height)))
  }

  /// The scale at which a line is recognized again. Other pixels give another guess, and the surer one is right more
  /// often.
  private static let secondScale = 0.75

  private func lookAgain(at line: inout FoundLine, of page: RecognitionPage) throws(JobFailure) {
    guard let box = line.box else { return }
    let margin = box.height / 4
    let picture = try page.picture.part(
      Box(left: box.left - margin, top: box.top - margin, right: box.right + margin, bottom: box.bottom + margin))
    let smaller = try unsafe picture.part.making { pix in
      unsafe pixScaleGrayLI(pix, Float(Self.secondScale), Float(Self.secondScale))
    }
    let words = try blocks(of: smaller, density: page.density * Self.secondScale, PSM_SINGLE_LINE)
      .joined().joined().flatMap(\.words)
    line.improve(
      by: words.map { $0.moved(by: 1 / Self.secondScale, from: picture.left) }, nearness: box.height / 2)
  }

  /// Returns the file's density if it gives the page a plausible size. Otherwise returns the density that gives a sheet
  /// of A4, or that of a screen.
  private static func plausible(_ density: Double?, _ samples: Samples) -> Double {
    let longest = Double(max(samples.width, samples.height))
    // Programs write 72 if the density is unknown.
    if let density, density != 72, (0.3...25).contains(longest / density) { return density }
    return max(longest / 11.7, 96)
  }

  private func open(_ languages: ReadingLanguages) throws(JobFailure) {
    if unsafe reader != nil, self.languages == languages.codes { return }
    let missing = languages.codes.filter { !data.has($0) }
    if let first = missing.first {
      let names = missing.map { ReadingLanguages.names[$0] ?? $0 }.joined(separator: " and ")
      throw JobFailure(
        .unsupported,
        "needs the recognition of \(names), which is not installed (apt install \(ReadingLanguages.package(of: first)))"
      )
    }
    unsafe TessBaseAPIDelete(reader)
    unsafe reader = start(languages.codes)
    guard unsafe reader != nil else {
      let packages = languages.codes.map(ReadingLanguages.package).joined(separator: ", ")
      throw JobFailure(.system, "cannot be read: the data of \(languages) are damaged (install \(packages) again)")
    }
    self.languages = languages.codes
  }

  private func start(_ names: [String]) -> OpaquePointer? {
    // A language's data may require those of others, which are passed along.
    unsafe data.with(data.names) { data in
      unsafe OpaquePointer(ffscan_recognition_open(data, data.count, names.joined(separator: "+")))
    }
  }

  /// Returns the number of clockwise quarter turns that make a page upright. Returns 0 if its letters do not determine
  /// it.
  ///
  /// - Parameter density: as for `recognize`.
  public func quartersToTurn(_ samples: Samples, density: Double?) throws(JobFailure) -> Int {
    let page = try RecognitionPage(samples, density: Self.plausible(density, samples))
    return try turn(of: page, leastCertainty: Self.certain) ?? 0
  }

  /// The minimum certainty. Below it, a page with few letters is rotated wrongly as often as not.
  private static let certain: Float = 2

  /// Returns the number of clockwise quarter turns that make the page upright. Returns `nil` if it is unknown, or 0.
  private func turn(of page: RecognitionPage, leastCertainty: Float = 0) throws(JobFailure) -> Int? {
    guard data.has(TrainedData.orientation) else { return nil }
    if unsafe compass == nil { unsafe compass = start([TrainedData.orientation]) }
    guard let compass = unsafe compass else { return nil }
    unsafe TessBaseAPISetImage2(compass, page.picture.pix)
    unsafe TessBaseAPISetSourceResolution(compass, Int32(page.density))
    defer { unsafe TessBaseAPIClear(compass) }
    var degrees: Int32 = 0
    var (certainty, scriptCertainty): (Float, Float) = (0, 0)
    var script: UnsafePointer<CChar>?
    guard
      unsafe TessBaseAPIDetectOrientationScript(compass, &degrees, &certainty, &script, &scriptCertainty) != 0,
      degrees != 0, certainty >= leastCertainty
    else { return nil }
    return (4 - Int(degrees) / 90) & 3
  }

  private func blocks(
    of picture: GrayPicture, density: Double, _ mode: TessPageSegMode
  ) throws(JobFailure) -> [FoundLine.Block] {
    unsafe TessBaseAPIClearAdaptiveClassifier(reader)
    unsafe TessBaseAPISetPageSegMode(reader, mode)
    unsafe TessBaseAPISetImage2(reader, picture.pix)
    unsafe TessBaseAPISetSourceResolution(reader, Int32(density))
    defer { unsafe TessBaseAPIClear(reader) }
    guard unsafe TessBaseAPIRecognize(reader, nil) == 0 else {
      throw JobFailure(.system, "cannot be read by Tesseract")
    }
    guard let words = unsafe TessBaseAPIGetIterator(reader) else { return [] }
    defer { unsafe TessResultIteratorDelete(words) }
    return unsafe WordWalk(words, leastConfidence: Self.leastConfidence).blocks()
  }
}
