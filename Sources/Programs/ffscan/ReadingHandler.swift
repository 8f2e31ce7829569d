internal import Catalogue
internal import Documents
internal import Images
internal import Pixels
internal import Recognition
internal import Rendering
internal import WorkerKit

/// Recognizes the text of images and PDFs, and writes it as text, as hOCR, or as a table.
struct ReadingHandler: JobHandler {
  static let verbs = ["recognized", "hocr", "tsv"]
  private let recognizer: Recognizer

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let languages = recipe.arguments.flatMap({ ReadingLanguages($0[...]) }) else { throw .unknown }
    let input = try ReadInput(order)
    var reader = PageReader(recognizer, languages, known: input.pages)
    let damage: String
    switch recipe.verb {
    case "hocr":
      var pages = HOCR()
      try output.write(pages.head)
      damage = try forEachPage(of: input.document, order, &reader) { (page) throws(JobFailure) in
        try output.write(pages.page(page))
      }
      try output.write(pages.tail)
    case "tsv":
      var table = WordTable()
      try output.write(table.head)
      damage = try forEachPage(of: input.document, order, &reader) { (page) throws(JobFailure) in
        try output.write(table.page(page))
      }
    default: return try writeText(of: input, order, &reader, to: output)
    }
    return damage.isEmpty ? reader.remark : damage
  }

  /// Calls `body` with each page. A damaged page is empty.
  ///
  /// - Returns: A remark on such pages. Empty if there are none.
  private func forEachPage(
    of input: JobInput, _ order: JobOrder, _ reader: inout PageReader,
    _ body: (RecognizedPage) throws(JobFailure) -> Void
  ) throws(JobFailure) -> String {
    var pages = UnreadablePages()
    try PagedInput(input, order.job.passwords).forEachPage { (index, picture) throws(JobFailure) in
      let page = try pages.read(index) { () throws(JobFailure) in try reader.read(page: index, picture) }
      try body(page ?? .empty)
    }
    return try pages.remark()
  }

  /// Writes each page's own text, or the recognized text of a page without any. A form feed ends each page. A page that
  /// cannot be read is empty. Returns the job's remark.
  private func writeText(
    of read: ReadInput, _ order: JobOrder, _ reader: inout PageReader, to output: JobOutput
  ) throws(JobFailure) -> String {
    let input = read.document
    guard input.isPDF else {
      let damage = try forEachPage(of: input, order, &reader) { (page) throws(JobFailure) in
        try output.write(page.text + "\u{C}")
      }
      return damage.isEmpty ? reader.remark : damage
    }
    // Opened only for a page whose text is not known.
    var opened: ScannedDocument?
    func document() throws(JobFailure) -> ScannedDocument {
      if let opened { return opened }
      let made = try ScannedDocument(input, order.job.passwords)
      opened = made
      return made
    }
    let count = if let texts = read.texts { texts.pages.count } else { try document().pageCount }
    guard count > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    var remark = ""
    var hasText = false
    var isIncomplete = false
    func page(_ index: Int) throws(JobFailure) -> [UInt8] {
      let own: [UInt8]?
      if let page = read.texts?.pages[index] {
        own = page.text.map { Array($0) }
        isIncomplete = page.isDamaged
        if own?.isEmpty ?? false { throw JobFailure(.damaged, "has no readable page \(index + 1)") }
      } else {
        own = try document().text(ofPage: index)
        isIncomplete = try document().isIncomplete
      }
      if let own { return own }
      do throws(JobFailure) {
        let page = try reader.read(page: index) { () throws(JobFailure) in try document().picture(ofPage: index) }
        return Array((page.text + "\u{C}").utf8)
      } catch {
        // Without a language's data, the text of other pages is still available.
        guard error.failure == .unsupported else { throw error }
        remark = "has pages without text: it \(error.reason)"
        return [0xC]
      }
    }
    var pages = UnreadablePages()
    for index in 0..<count {
      let own = try pages.read(index) { () throws(JobFailure) in try page(index) }
      if own != nil, isIncomplete { pages.noteIncomplete(index) }
      let text = own ?? [0xC]
      try unsafe output.write(text.span.bytes)
      hasText = hasText || text != [0xC]
    }
    let damage = try pages.remark()
    guard hasText || remark.isEmpty else { throw JobFailure(.unsupported, remark) }
    return [damage, remark, reader.remark].first { !$0.isEmpty } ?? ""
  }
}

extension JobOutput {
  func write(_ text: String) throws(JobFailure) {
    let bytes = Array(text.utf8)
    try unsafe write(bytes.span.bytes)
  }
}
