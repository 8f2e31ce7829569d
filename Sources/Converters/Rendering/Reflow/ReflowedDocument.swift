internal import Catalogue
internal import Pixels
internal import Text
public import WorkerKit

/// A PDF as a self-contained web page of flowing text and images. It contains no scripts and loads nothing from
/// elsewhere.
public final class ReflowedDocument {
  private let text: ReadDocument
  private let pictures: RenderedDocument
  /// The font size of most of the text. 0 if there is none.
  private var bodySize = 0.0
  private var figures = 0
  private var figuresLeftOut = 0
  /// The remaining limits of images and of text, in bytes.
  private var (roomForFigures, roomForText) = (48 << 20, 128 << 20)
  /// The images already shown, by size and checksum. An image on every page is shown once.
  private var shown: Set<[Int]> = []

  private static let mostPages = 20_000
  private static let mostFigures = 400
  private static let style = """
    body{font-family:sans-serif;line-height:1.4;max-width:50em;margin:2em auto;padding:0 1em}\
    p,li,h1,h2,h3{unicode-bidi:plaintext}img{max-width:100%;display:block}ul{list-style:none}
    """

  /// - Parameters:
  ///   - text: the document for its text.
  ///   - pictures: the same document for its images and links.
  public init(_ text: ReadDocument, _ pictures: RenderedDocument) {
    self.text = text
    self.pictures = pictures
  }

  /// Writes the page. A page of the document that cannot be read is empty.
  ///
  /// - Returns: A remark for the user. Empty if there is none.
  public func write(to output: JobOutput) throws(JobFailure) -> String {
    let count = text.pageCount
    guard count > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    guard count <= Self.mostPages else { throw JobFailure(.limit, "has \(count) pages, which is too much") }
    bodySize = try usualSize(of: count)
    try write(
      "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>\(pictures.title.escapedForHTML)</title>\n"
        + "<style>\(Self.style)</style>\n</head>\n<body>\n", to: output)
    var pages = UnreadablePages()
    for index in 0..<count {
      let content = try pages.read(index) { () throws(JobFailure) in try page(index) } ?? ""
      if text.isIncomplete { pages.noteIncomplete(index) }
      try write("\(index == 0 ? "" : "<hr>\n")\(content)", to: output)
    }
    try write("</body>\n</html>\n", to: output)
    let damage = try pages.remark()
    if figuresLeftOut == 0 || !damage.isEmpty { return damage }
    return "has \(figuresLeftOut) more images, which are left out"
  }

  private func write(_ text: String, to output: JobOutput) throws(JobFailure) {
    let bytes = Array(text.utf8)
    try unsafe output.write(bytes.span.bytes)
  }

  /// Returns the font size of most letters, sampled from pages of the whole document.
  private func usualSize(of count: Int) throws(JobFailure) -> Double {
    var letters: [Double: Int] = [:]
    for index in stride(from: 0, to: count, by: 1 + count / 16) {
      for word in (try? text.words(ofPage: index)) ?? [] where word.size > 0 {
        letters[(word.size * 2).rounded() / 2, default: 0] += word.text.utf8.count
      }
    }
    return letters.usualSize ?? 0
  }

  private func page(_ index: Int) throws(JobFailure) -> String {
    let paragraphs = TextParagraph.paragraphs(of: TextLine.lines(of: try text.words(ofPage: index)))
    let links = paragraphs.isEmpty ? [] : try pictures.links(ofPage: index)
    var waiting = try figures(ofPage: index)
    // Images above all text come first.
    let top = paragraphs.map(\.box.top).min() ?? .infinity
    var written = waiting.filter { $0.box.bottom <= top }.map(\.markup).joined()
    waiting.removeAll { $0.box.bottom <= top }
    var isInList = false
    for paragraph in paragraphs {
      let level = paragraph.headingLevel(over: bodySize)
      let isItem = level == nil && paragraph.isItem
      let before = waiting.filter { paragraph.isBehind($0.box) }
      if isInList, !isItem || !before.isEmpty { written += "</ul>\n" }
      isInList = isInList && isItem && before.isEmpty
      waiting.removeAll { paragraph.isBehind($0.box) }
      for figure in before { written += figure.markup }
      if isItem, !isInList { written += "<ul>\n" }
      isInList = isItem
      let tag = level.map { "h\($0)" } ?? (isItem ? "li" : "p")
      let content = paragraph.markup(links)
      roomForText -= content.utf8.count
      guard roomForText >= 0 else { throw JobFailure(.limit, "has too much text for one page") }
      written += "<\(tag)>\(content)</\(tag)>\n"
    }
    if isInList { written += "</ul>\n" }
    for figure in waiting { written += figure.markup }
    return written
  }

  private func figures(ofPage index: Int) throws(JobFailure) -> [PageFigure] {
    guard figures < Self.mostFigures, roomForFigures > 0 else { return [] }
    var found: [PageFigure] = []
    figuresLeftOut += try pictures.forEachFigure(ofPage: index) { (box, samples) throws(JobFailure) in
      guard shown.insert([samples.width, samples.height, Int(Deflate.checksum(samples.bytes))]).inserted else { return }
      guard figures < Self.mostFigures, let address = PageFigure.address(of: samples),
        address.utf8.count <= roomForFigures
      else {
        figuresLeftOut += 1
        return
      }
      figures += 1
      roomForFigures -= address.utf8.count
      found.append(PageFigure(box: box, address: address))
    }
    return found
  }
}

extension PageFigure {
  fileprivate var markup: String { "<img src=\"\(address)\" alt=\"\">\n" }
}

extension TextParagraph {
  /// Returns whether a figure precedes the paragraph.
  fileprivate func isBehind(_ figure: PageBox) -> Bool {
    (figure.top + figure.bottom) / 2 < box.top && figure.left < box.right && figure.right > box.left
  }

  /// Returns the words in HTML.
  fileprivate func markup(_ links: [PageLink]) -> String {
    var (text, open) = ("", String?.none)
    forEachWord { word, letters, isGlued in
      let (x, y) = ((word.box.left + word.box.right) / 2, (word.box.top + word.box.bottom) / 2)
      let address = links.first { $0.box.contains(x, y) }?.address
      if open != nil, address != open { text += "</a>" }
      if !text.isEmpty, !isGlued { text += " " }
      if let address, address != open { text += "<a href=\"\(address.escapedForHTML)\">" }
      text += String(letters).escapedForHTML
      open = address
    }
    return open == nil ? text : text + "</a>"
  }
}
