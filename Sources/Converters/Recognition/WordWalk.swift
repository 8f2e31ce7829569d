internal import CRecognition
internal import CTesseract

/// Takes what Tesseract found on a page, word by word, and says where that is on the page as it was given.
@safe struct WordWalk {
  private let iterator: OpaquePointer
  private let place: OpaquePointer
  private let map: PixelMap
  private let size: (width: Int, height: Int)
  private let leastConfidence: Float

  /// Borrows the iterator.
  init(
    _ iterator: OpaquePointer, _ map: PixelMap, _ size: (width: Int, height: Int), leastConfidence: Float
  ) {
    unsafe self.iterator = iterator
    unsafe place = TessResultIteratorGetPageIterator(iterator)
    self.map = map
    self.size = size
    self.leastConfidence = leastConfidence
  }

  mutating func blocks() -> [RecognizedPage.Block] {
    var blocks: [RecognizedPage.Block] = []
    var line = (text: "", words: [FoundWord]())
    repeat {
      if isFirst(of: RIL_BLOCK) { blocks.append(RecognizedPage.Block(paragraphs: [])) }
      if isFirst(of: RIL_PARA), let last = blocks.indices.last {
        blocks[last].paragraphs.append(RecognizedPage.Paragraph(lines: []))
      }
      if isFirst(of: RIL_TEXTLINE) { line = (text(of: RIL_TEXTLINE), []) }
      if let word { line.words.append(word) }
      let isLast = unsafe TessPageIteratorIsAtFinalElement(place, RIL_TEXTLINE, RIL_WORD) != 0
      if isLast, !line.words.isEmpty, let block = blocks.indices.last,
        let paragraph = blocks[block].paragraphs.indices.last
      {
        blocks[block].paragraphs[paragraph].lines.append(
          RecognizedPage.Line(text: line.text, words: placed(line.words)))
        line.words = []
      }
    } while unsafe TessPageIteratorNext(place, RIL_WORD) != 0
    for index in blocks.indices { blocks[index].paragraphs.removeAll { $0.lines.isEmpty } }
    return blocks.filter { !$0.paragraphs.isEmpty }
  }

  private func isFirst(of level: TessPageIteratorLevel) -> Bool {
    unsafe TessPageIteratorIsAtBeginningOf(place, level) != 0
  }

  /// In reading order, without the line's end.
  private func text(of level: TessPageIteratorLevel) -> String {
    guard let bytes = unsafe TessResultIteratorGetUTF8Text(iterator, level) else { return "" }
    defer { unsafe TessDeleteText(bytes) }
    let text = unsafe String(cString: bytes)
    return String(text[..<(text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.startIndex)])
  }

  /// nil for what is no word.
  private var word: FoundWord? {
    let text = text(of: RIL_WORD)
    let confidence = unsafe TessResultIteratorConfidence(iterator, RIL_WORD)
    guard !text.isEmpty, confidence >= leastConfidence, let box = box(of: RIL_WORD) else { return nil }
    let (start, end) = baseline(box)
    let height = Double(unsafe ffscan_recognition_line_height(UnsafeRawPointer(place)))
    let language = unsafe TessResultIteratorWordRecognitionLanguage(iterator).map { unsafe String(cString: $0) }
    return FoundWord(
      text: text, box: box, start: start, end: end, height: max(height, 1), confidence: confidence,
      language: language ?? "")
  }

  /// The words of a line where they are on the page as it was given.
  private func placed(_ words: [FoundWord]) -> [RecognizedPage.Word] {
    var words = words
    let order = words.indices.sorted { words[$0].box.left < words[$1].box.left }
    // Where letters touch, Tesseract counts the next word's first ones to both.
    for (one, next) in zip(order, order.dropFirst()) where words[one].isLevel && words[next].isLevel {
      words[one].end(before: words[next].box.left)
    }
    return words.map { word in
      RecognizedPage.Word(
        text: word.text, box: map.edges(around: word.box, within: size), start: map(word.start), end: map(word.end),
        rise: map(word.start + word.rise) - map(word.start), confidence: word.confidence, language: word.language)
    }
  }

  private func box(of level: TessPageIteratorLevel) -> Box? {
    var (left, top, right, bottom): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard unsafe TessPageIteratorBoundingBox(place, level, &left, &top, &right, &bottom) != 0 else { return nil }
    return Box(left: Int(left), top: Int(top), right: Int(right), bottom: Int(bottom))
  }

  /// The word's part of the line that the letters of all words stand on, in the page that was read.
  private func baseline(_ box: Box) -> (start: Point, end: Point) {
    guard let word = ends(of: RIL_WORD) else {
      return (Point(x: Double(box.left), y: Double(box.bottom)), Point(x: Double(box.right), y: Double(box.bottom)))
    }
    guard let line = ends(of: RIL_TEXTLINE), case let along = line.end - line.start, along.length > 1 else {
      return word
    }
    func onLine(_ point: Point) -> Point {
      let way = point - line.start
      return line.start + along * ((way.x * along.x + way.y * along.y) / (along.length * along.length))
    }
    return (onLine(word.start), onLine(word.end))
  }

  private func ends(of level: TessPageIteratorLevel) -> (start: Point, end: Point)? {
    var (x1, y1, x2, y2): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard unsafe TessPageIteratorBaseline(place, level, &x1, &y1, &x2, &y2) != 0, (x1, y1) != (x2, y2) else {
      return nil
    }
    return (Point(x: Double(x1), y: Double(y1)), Point(x: Double(x2), y: Double(y2)))
  }
}
