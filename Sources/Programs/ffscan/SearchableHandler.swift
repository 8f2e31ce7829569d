internal import Catalogue
internal import Documents
internal import Images
internal import Recognition
internal import WorkerKit

/// Adds a layer of recognized text to the pages of PDFs and images.
struct SearchableHandler: JobHandler {
  static let verbs = [Conversion.searchable.verb]
  private let recognizer: Recognizer

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let languages = recipe.arguments.flatMap({ ReadingLanguages($0[...]) }) else { throw .unknown }
    let read = try ReadInput(order)
    let input = read.document
    var reader = PageReader(recognizer, languages, known: read.pages)
    guard input.isPDF else {
      try write(input, &reader, to: output)
      return reader.remark
    }
    do throws(JobFailure) {
      let remark = try write(read, order.job.passwords, &reader, to: output)
      return remark.isEmpty ? reader.remark : remark
    } catch {
      // A document without a page that can be painted stays unchanged.
      guard error.failure == .damaged else { throw error }
      try output.restart()
      try unsafe output.write(input.bytes.bytes)
      return "is not changed: it \(error.reason)"
    }
  }

  private func write(
    _ read: ReadInput, _ passwords: [[UInt8]], _ reader: inout PageReader, to output: JobOutput
  ) throws(JobFailure) -> String {
    let input = read.document
    // Not opened for a document that stays unchanged, which may be unreadable.
    var opened: ScannedDocument?
    return try SearchableDocument(input, passwords).write(to: output) { (index) throws(JobFailure) in
      if let texts = read.texts, texts.pages.indices.contains(index), texts.pages[index].text != nil { return [] }
      if opened == nil, read.pages[index] == nil { opened = try ScannedDocument(input, passwords) }
      if let document = opened, read.texts == nil, try document.text(ofPage: index) != nil { return [] }
      return try reader.read(page: index) { () throws(JobFailure) in
        guard let document = opened else { throw JobFailure.unknown }
        return try document.picture(ofPage: index)
      }.layer
    }
  }

  /// Writes a page for each image of a file, in the image's own encoding if PDF supports it.
  private func write(
    _ input: JobInput, _ reader: inout PageReader, to output: JobOutput
  ) throws(JobFailure) {
    var texts: [[LayerLine]] = []
    for index in 0..<(try PagePixels.count(in: input)) {
      let page = try reader.read(page: index) { () throws(JobFailure) in try PagePixels(page: index, of: input) }
      texts.append(page.layer)
    }
    texts.reverse()
    try PicturePages.write(to: output) { (pages) throws(JobFailure) in
      try PageImage.forEach(of: input, ImageChanges()) { (image) throws(JobFailure) in
        let text = texts.popLast() ?? []
        if let data = image.data {
          try unsafe pages.add(image.form, data.span.bytes, text: text)
        } else {
          try unsafe pages.add(image.form, input.bytes.bytes, text: text)
        }
      }
    }
  }
}

extension RecognizedPage {
  /// The lines in the unit square.
  var layer: [LayerLine] {
    lines.map { line in
      LayerLine(
        words: line.words.map { word in
          LayerLine.Word(text: word.text, start: share(word.start), end: share(word.end), rise: share(word.rise))
        }, isSpaced: line.text.contains(" "))
    }
  }

  private func share(_ point: PagePoint) -> LayerLine.Place {
    LayerLine.Place(x: point.x / Double(width), y: point.y / Double(height))
  }
}
