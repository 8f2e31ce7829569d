internal import CTesseract
internal import Text

/// Recognized text as hOCR 1.2: one HTML page for all pages of a document, with the position of each word.
public struct HOCR {
  /// The number of pages so far, for their names.
  private var pages = 0

  public init() {}

  /// The text before the first page.
  public var head: String {
    let version = unsafe String(cString: TessVersion())
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
      <html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
      <head>
      <title></title>
      <meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
      <meta name="ocr-system" content="tesseract \(version)"/>
      <meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_par ocr_line ocrx_word ocrp_wconf ocrp_lang"/>
      </head>
      <body>

      """
  }

  /// The text after the last page.
  public var tail: String { "</body>\n</html>\n" }

  /// Returns the text of the next page.
  public mutating func page(_ page: RecognizedPage) -> String {
    pages += 1
    let resolution = Int(page.density.rounded())
    var text = """
      <div class="ocr_page" id="page_\(pages)" title="bbox 0 0 \(page.width) \(page.height); \
      ppageno \(pages - 1); scan_res \(resolution) \(resolution)">

      """
    var (paragraphs, lines, words) = (0, 0, 0)
    for (index, block) in page.blocks.enumerated() {
      let box = Box.around(block.paragraphs.flatMap(\.lines).flatMap(\.words).map(\.box))
      text += #"<div class="ocr_carea" id="block_\#(pages)_\#(index + 1)"\#(Self.title(box))>\#n"#
      for paragraph in block.paragraphs {
        paragraphs += 1
        let language = paragraph.lines.first?.words.first?.language ?? ""
        let box = Box.around(paragraph.lines.flatMap(\.words).map(\.box))
        text += #"<p class="ocr_par" id="par_\#(pages)_\#(paragraphs)" lang="\#(language)"\#(Self.title(box))>\#n"#
        for line in paragraph.lines {
          lines += 1
          text += #"<span class="ocr_line" id="line_\#(pages)_\#(lines)"\#(Self.title(line))>"#
          for word in line.words {
            words += 1
            let more = "; x_wconf \(Int(word.confidence))"
            text += #"\#n<span class="ocrx_word" id="word_\#(pages)_\#(words)"\#(Self.title(word.box, more))>"#
            text += word.text.escapedForHTML + "</span>"
          }
          text += "\n</span>\n"
        }
        text += "</p>\n"
      }
      text += "</div>\n"
    }
    return text + "</div>\n"
  }

  private static func title(_ line: RecognizedPage.Line) -> String {
    guard let first = line.words.first, let last = line.words.last, let box = Box.around(line.words.map(\.box)) else {
      return ""
    }
    // The baseline relative to the box's lower left corner: its slope, and its vertical offset.
    let way = last.end - first.start
    let slope = abs(way.x) > 1 ? way.y / way.x : 0
    let offset = first.start.y + slope * (Double(box.left) - first.start.x) - Double(box.bottom)
    return title(
      box, "; baseline \(rounded(slope, 1000)) \(Int(offset.rounded())); x_size \(rounded(first.rise.length, 10))")
  }

  private static func title(_ box: Box?, _ more: String = "") -> String {
    guard let box else { return "" }
    return #" title="bbox \#(box.left) \#(box.top) \#(box.right) \#(box.bottom)\#(more)""#
  }

  private static func rounded(_ value: Double, _ parts: Double) -> Double { (value * parts).rounded() / parts }
}
