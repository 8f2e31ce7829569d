internal import Catalogue
internal import Documents
internal import Images
internal import Recognition
internal import Rendering
internal import WorkerKit

/// Recognizes the text of single pages, and lists the texts that pages have.
struct PageHandler: JobHandler {
  static let verbs = [Conversion.recognizedPage.verb, Conversion.pageTexts.verb]
  private let recognizer: Recognizer
  private var open = OpenDocuments<ScannedDocument>()
  var openDocuments: Int { open.count }

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    if recipe.verb == Conversion.pageTexts.verb {
      try writeTexts(of: input, order, to: output)
      return ""
    }
    guard let work = recipe.arguments.flatMap({ PageRecognition($0[...]) }) else { throw .unknown }
    let index = work.page - 1
    let picture: PagePixels
    if input.isPDF {
      let document = try document(of: input, order)
      guard index < document.pageCount else { throw JobFailure(.absent, "has \(document.pageCount) pages only") }
      picture = try document.picture(ofPage: index)
    } else {
      picture = try PagePixels(page: index, of: input)
    }
    var reader = PageReader(recognizer, work.languages)
    let page = try reader.read(picture)
    try output.write(PageRecord(page, reader.lastCertainty).text)
    return ""
  }

  private mutating func writeTexts(of input: JobInput, _ order: JobOrder, to output: JobOutput) throws(JobFailure) {
    if input.isPDF {
      let document = try document(of: input, order)
      // A conversion that needs the text of a damaged page reports the damage.
      var pages = UnreadablePages()
      for index in 0..<document.pageCount {
        let entry = try pages.read(index) { () throws(JobFailure) in
          PageTexts.entry(try document.text(ofPage: index), isDamaged: document.isIncomplete)
        }
        let bytes = entry ?? PageTexts.entry([], isDamaged: true)
        try unsafe output.write(bytes.span.bytes)
      }
    } else {
      for _ in 0..<(try PagePixels.count(in: input)) { try unsafe output.write(PageTexts.entry(nil).span.bytes) }
    }
  }

  mutating func closeOne() -> Bool { open.closeOne() }

  private mutating func document(of input: JobInput, _ order: JobOrder) throws(JobFailure) -> ScannedDocument {
    try open.document(order.job.document) { () throws(JobFailure) in
      try ScannedDocument(input, order.job.passwords)
    }
  }
}
