/// Determines which parts are the body, and which are attachments (RFC 8621 §4.1.4).
struct BodyStructure {
  /// The indices of the parts to show as text, and as HTML, in order.
  private(set) var text: [Int] = []
  private(set) var html: [Int] = []
  /// The indices of all other leaves, and of the pictures and sounds among those shown, which are also files.
  private(set) var files: [Int] = []

  private struct Frame {
    let part: Int?
    let isAlternative: Bool
    let isRelated: Bool
    /// Whether an enclosing part is a multipart/alternative.
    let isInAlternative: Bool
    /// Whether following parts may still be shown as text or as HTML.
    var takesText: Bool
    var takesHTML: Bool
    let textCount: Int
    let htmlCount: Int
  }

  /// Classifies the parts, each of which must follow the multipart that contains it. O(n).
  init(_ parts: [Part]) {
    var frames = [
      Frame(
        part: nil, isAlternative: false, isRelated: false, isInAlternative: false, takesText: true, takesHTML: true,
        textCount: 0, htmlCount: 0)
    ]
    let roots = Self.roots(of: parts)
    for (number, part) in parts.enumerated() {
      while frames.count > 1, frames[frames.count - 1].part != part.parent { leave(&frames) }
      let frame = frames[frames.count - 1]
      if part.kind == .multipart {
        frames.append(
          Frame(
            part: number, isAlternative: part.isAlternative, isRelated: part.isRelated,
            isInAlternative: frame.isInAlternative || part.isAlternative, takesText: frame.takesText,
            takesHTML: frame.takesHTML, textCount: text.count, htmlCount: html.count))
      } else if Self.isInline(part, isInRelated: frame.isRelated, isRoot: roots.contains(number)) {
        show(number, part, &frames[frames.count - 1])
      } else {
        files.append(number)
      }
    }
    while frames.count > 1 { leave(&frames) }
  }

  /// Returns the indices of the parts that are the root of their multipart/related (RFC 2387): the part that `start`
  /// names, else the first part if it can be shown, else the first of the type that `type` names, else the first page.
  private static func roots(of parts: [Part]) -> Set<Int> {
    var roots: [Int: (number: Int, rank: Int)] = [:]
    for (number, part) in parts.enumerated() {
      guard let parent = part.parent, parts[parent].isRelated else { continue }
      let isShown = part.kind == .multipart || part.kind == .html || part.kind == .plain
      let rank =
        switch part {
        case _ where isShown && part.contentID != nil && part.contentID == parts[parent].rootID: 0
        case _ where isShown && part.position == 0: 1
        case _ where isShown && part.contentType == parts[parent].rootType: 2
        case _ where part.kind == .html && !part.isAttachment: 3
        default: part.position == 0 ? 4 : 5
        }
      if rank < roots[parent]?.rank ?? 5 { roots[parent] = (number, rank) }
    }
    return Set(roots.values.map(\.number))
  }

  private static func isInline(_ part: Part, isInRelated: Bool, isRoot: Bool) -> Bool {
    guard !part.isAttachment, part.kind == .plain || part.kind == .html || part.kind == .media else { return false }
    if isInRelated { return isRoot }
    return part.position == 0 || part.kind == .media || part.name == nil
  }

  private mutating func show(_ number: Int, _ part: Part, _ frame: inout Frame) {
    if part.kind == .media {
      files.append(number)
      return
    }
    if frame.isAlternative {
      // Each part is shown in its own form. If that form is no longer shown, the part is a file, so that nothing is
      // lost.
      if part.kind == .plain, frame.takesText { return text.append(number) }
      if part.kind == .html, frame.takesHTML { return html.append(number) }
      return files.append(number)
    }
    if frame.isInAlternative {
      if part.kind == .plain { frame.takesHTML = false } else { frame.takesText = false }
    }
    if frame.takesText { text.append(number) }
    if frame.takesHTML { html.append(number) }
    if !frame.takesText, !frame.takesHTML { files.append(number) }
  }

  /// Leaves a multipart. If a multipart/alternative has only one form, that is also used for the other.
  private mutating func leave(_ frames: inout [Frame]) {
    guard let frame = frames.popLast(), frame.isAlternative, frame.takesText, frame.takesHTML else { return }
    if text.count == frame.textCount {
      text += html[frame.htmlCount...]
    } else if html.count == frame.htmlCount {
      html += text[frame.textCount...]
    }
  }
}
