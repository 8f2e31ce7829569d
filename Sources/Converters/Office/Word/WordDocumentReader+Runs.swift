internal import WorkerKit

extension WordDocumentReader {
  /// Reads a paragraph's properties and runs to its end. The content of text boxes goes to `beside`.
  func readRuns(_ paragraph: inout WordParagraph, beside: BlockList) throws(JobFailure) {
    var changed = paragraph
    var link: String?
    var linkDepth = 0
    var depth = 1
    var look: Run.Look = []
    var isHidden = false
    while depth > 0, let event = try reader.next() {
      let element: Element
      switch event {
      case .end:
        depth -= 1
        if depth == linkDepth { link = nil }
        continue
      case .text: continue
      case .start(let started):
        element = started
        depth += 1
      }
      /// Whether the element was read to its end.
      var isPast = true
      let to = link ?? fieldLink
      switch element.name {
      case "w:pPr": try readProperties(&changed)
      case "w:r":
        (look, isHidden) = ([], document.styles.isHidden(changed.style))
        isPast = false
      case "w:rPr": try readLook(&look, &isHidden)
      case "w:t":
        let text = try reader.text()
        if !isHidden, isShown { changed.runs.add(text, look, link: to) }
      case "m:t": changed.runs.add(try reader.text())
      case "w:instrText":
        let text = try reader.text()
        if !fields.isEmpty, fields[fields.count - 1].order.utf8.count < 4096 { fields[fields.count - 1].order += text }
      // Includes phonetic guides, which are above characters.
      case "w:del", "w:moveFrom", "w:sdtPr", "mc:Fallback", "w:rt": try reader.skip()
      case "w:txbxContent": try readBlocks(into: beside)
      case "w:hyperlink":
        link = element["r:id"].flatMap { links[$0]?.target } ?? element["w:anchor"].map { "#\($0)" }
        linkDepth = depth - 1
        isPast = false
      default:
        if isShown, !isHidden { try readSign(element, look, to, &changed) }
        if element.name == "w:fldChar" { turnField(element) }
        isPast = false
      }
      if isPast { depth -= 1 }
    }
    paragraph = changed
  }

  /// Reads an element of a run that is not text.
  private func readSign(
    _ element: Element, _ look: Run.Look, _ link: String?, _ paragraph: inout WordParagraph
  ) throws(JobFailure) {
    switch element.name {
    case "w:tab", "w:ptab": paragraph.runs.add("\t", look, link: link)
    case "w:br", "w:cr": if element["w:type"] != "page" { paragraph.runs.append(Run(.lineBreak)) }
    case "w:noBreakHyphen": paragraph.runs.add("\u{2011}", look, link: link)
    case "w:sym":
      guard let code = element["w:char"].flatMap({ UInt32($0, radix: 16) }), let scalar = UnicodeScalar(code) else {
        return
      }
      paragraph.runs.add(String(Character(scalar)), look, link: link)
    case "w:footnoteReference": try note("footnotes", element["w:id"], &paragraph.runs)
    case "w:endnoteReference": try note("endnotes", element["w:id"], &paragraph.runs)
    case "w:commentReference": try note("comments", element["w:id"], &paragraph.runs)
    case "m:den": paragraph.runs.add("/", look, link: link)
    case "wp:docPr": words = element["descr"] ?? ""
    case "a:blip", "v:imagedata":
      guard let image = (element["r:embed"] ?? element["r:id"]).flatMap({ links[$0] }), !image.isOutside else { return }
      paragraph.runs.append(Run(.image(path: image.target, words: words), link: link))
      words = ""
    default: break
    }
  }

  private func readProperties(_ paragraph: inout WordParagraph) throws(JobFailure) {
    var changed = paragraph
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:pStyle": changed.style = element["w:val"]
      case "w:outlineLvl": changed.outline = element.number("w:val")
      case "w:numId": changed.list = WordListPlace(list: element["w:val"] ?? "", level: changed.list?.level ?? 0)
      case "w:ilvl": changed.list = WordListPlace(list: changed.list?.list ?? "", level: element.number("w:val") ?? 0)
      // A drop cap belongs to the next paragraph.
      case "w:framePr": if let kind = element["w:dropCap"], kind != "none" { changed.isJoined = true }
      // The paragraph's end was deleted.
      case "w:del", "w:moveFrom": changed.isJoined = true
      case "w:pPrChange", "w:rPrChange", "w:sectPr": try reader.skip()
      default: break
      }
    }
    paragraph = changed
  }

  private func readLook(_ look: inout Run.Look, _ isHidden: inout Bool) throws(JobFailure) {
    var (changed, isGone) = (look, isHidden)
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:rStyle": if document.styles.isHidden(element["w:val"]) { isGone = true }
      case "w:b": if !element.isOff("w:val") { changed.insert(.bold) }
      case "w:i": if !element.isOff("w:val") { changed.insert(.italic) }
      case "w:strike", "w:dstrike": if !element.isOff("w:val") { changed.insert(.struck) }
      case "w:vanish": isGone = !element.isOff("w:val")
      case "w:vertAlign":
        if element["w:val"] == "superscript" { changed.insert(.raised) }
        if element["w:val"] == "subscript" { changed.insert(.lowered) }
      case "w:rPrChange": try reader.skip()
      default: break
      }
    }
    (look, isHidden) = (changed, isGone)
  }

  // MARK: Fields

  /// Whether the current content is a field's result, or outside of fields.
  private var isShown: Bool { fields.allSatisfy { $0.isShown } }

  private func turnField(_ element: Element) {
    switch element["w:fldCharType"] {
    case "begin": if fields.count < 100 { fields.append(("", false)) }
    case "separate": if !fields.isEmpty { fields[fields.count - 1].isShown = true }
    case "end": _ = fields.popLast()
    default: break
    }
  }

  /// The target of the open field.
  private var fieldLink: String? {
    guard let order = fields.last(where: { $0.order.contains("HYPERLINK") })?.order else { return nil }
    let words = order.split(separator: "\"", omittingEmptySubsequences: false)
    guard words.count > 1 else { return nil }
    return words[0].contains("\\l") ? "#\(words[1])" : String(words[1])
  }
}
