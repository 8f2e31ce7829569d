internal import CRecognition
internal import CTesseract

/// An iteration over Tesseract's results for a page, word by word.
@safe struct WordWalk {
  private let iterator: OpaquePointer
  private let place: OpaquePointer
  private let leastConfidence: Float

  /// Borrows the iterator.
  init(_ iterator: OpaquePointer, leastConfidence: Float) {
    unsafe self.iterator = iterator
    unsafe place = TessResultIteratorGetPageIterator(iterator)
    self.leastConfidence = leastConfidence
  }

  func blocks() -> [FoundLine.Block] {
    var blocks: [FoundLine.Block] = []
    var line = (text: "", words: [FoundWord]())
    repeat {
      if isFirst(of: RIL_BLOCK) { blocks.append([]) }
      if isFirst(of: RIL_PARA), let last = blocks.indices.last { blocks[last].append([]) }
      if isFirst(of: RIL_TEXTLINE) { line = (text(of: RIL_TEXTLINE), []) }
      if let word { line.words.append(word) }
      let isLast = unsafe TessPageIteratorIsAtFinalElement(place, RIL_TEXTLINE, RIL_WORD) != 0
      if isLast, !line.words.isEmpty, let block = blocks.indices.last, let paragraph = blocks[block].indices.last {
        blocks[block][paragraph].append(FoundLine(text: line.text, words: line.words))
        line.words = []
      }
    } while unsafe TessPageIteratorNext(place, RIL_WORD) != 0
    for index in blocks.indices { blocks[index].removeAll(where: \.isEmpty) }
    return blocks.filter { !$0.isEmpty }
  }

  private func isFirst(of level: TessPageIteratorLevel) -> Bool {
    unsafe TessPageIteratorIsAtBeginningOf(place, level) != 0
  }

  /// Returns the text in reading order, without the end of the line.
  private func text(of level: TessPageIteratorLevel) -> String {
    guard let bytes = unsafe TessResultIteratorGetUTF8Text(iterator, level) else { return "" }
    defer { unsafe TessDeleteText(bytes) }
    let text = unsafe String(cString: bytes)
    return String(text[..<(text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.startIndex)])
  }

  /// The current word. Nil if it is not a word.
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

  private func box(of level: TessPageIteratorLevel) -> Box? {
    var (left, top, right, bottom): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard unsafe TessPageIteratorBoundingBox(place, level, &left, &top, &right, &bottom) != 0 else { return nil }
    return Box(left: Int(left), top: Int(top), right: Int(right), bottom: Int(bottom))
  }

  /// Returns the word's part of the line's baseline, in the recognized page.
  private func baseline(_ box: Box) -> (start: PagePoint, end: PagePoint) {
    guard let word = ends(of: RIL_WORD) else {
      return (
        PagePoint(x: Double(box.left), y: Double(box.bottom)), PagePoint(x: Double(box.right), y: Double(box.bottom))
      )
    }
    guard let line = ends(of: RIL_TEXTLINE), case let along = line.end - line.start, along.length > 1 else {
      return word
    }
    func onLine(_ point: PagePoint) -> PagePoint {
      let way = point - line.start
      return line.start + along * ((way.x * along.x + way.y * along.y) / (along.length * along.length))
    }
    return (onLine(word.start), onLine(word.end))
  }

  private func ends(of level: TessPageIteratorLevel) -> (start: PagePoint, end: PagePoint)? {
    var (x1, y1, x2, y2): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard unsafe TessPageIteratorBaseline(place, level, &x1, &y1, &x2, &y2) != 0, (x1, y1) != (x2, y2) else {
      return nil
    }
    return (PagePoint(x: Double(x1), y: Double(y1)), PagePoint(x: Double(x2), y: Double(y2)))
  }
}
