internal import Catalogue
internal import Documents
internal import Images
internal import Pixels
internal import Recognition
internal import Rendering
internal import WorkerKit

/// Recognises the text of images and PDFs: as text, as hOCR, as a table.
struct ReadingHandler: JobHandler {
  static let verbs = ["recognized", "hocr", "tsv"]
  private let recognizer: Recognizer

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let languages = recipe.arguments.flatMap({ ReadingLanguages($0[...]) }) else { throw .unknown }
    switch recipe.verb {
    case "hocr":
      var pages = HOCR()
      try output.write(pages.head)
      try forEachPage(of: order, languages) { (page) throws(JobFailure) in try output.write(pages.page(page)) }
      try output.write(pages.tail)
    case "tsv":
      var table = WordTable()
      try output.write(table.head)
      try forEachPage(of: order, languages) { (page) throws(JobFailure) in try output.write(table.page(page)) }
    default: try writeText(of: order, languages, to: output)
    }
    return ""
  }

  private func forEachPage(
    of order: JobOrder, _ languages: ReadingLanguages, _ body: (RecognizedPage) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try PagedInput(order).forEachPage { (page) throws(JobFailure) in
      try body(recognizer.recognize(page.samples, density: page.density, in: languages))
    }
  }

  /// Each page's own text, or what is recognised of one that has none; each is ended by a form feed.
  private func writeText(
    of order: JobOrder, _ languages: ReadingLanguages, to output: JobOutput
  ) throws(JobFailure) {
    let input = try order.input()
    guard input.isPDF else {
      return try forEachPage(of: order, languages) { (page) throws(JobFailure) in
        try output.write(page.text + "\u{C}")
      }
    }
    let document = try ScannedDocument(input, order.job.passwords)
    guard document.pageCount > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    for index in 0..<document.pageCount {
      if try document.writeText(ofPage: index, to: output) { continue }
      try output.write(document.recognize(index, languages, recognizer).text + "\u{C}")
    }
  }
}

extension JobOutput {
  fileprivate func write(_ text: String) throws(JobFailure) {
    let bytes = Array(text.utf8)
    try unsafe write(bytes.span.bytes)
  }
}
