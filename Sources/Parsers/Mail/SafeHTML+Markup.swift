/// Markup: distinguishes tags from comments and declarations, which are skipped.
extension SafeHTML {
  /// Handles markup that starts with a `<`.
  mutating func markup(at open: Int) -> Int? {
    let second = open + 1 < html.count ? html[open + 1] : nil
    // This many bytes suffice to identify any markup.
    if !isLast, html.count - open < 16, open > 0 { return nil }
    switch second {
    case .some(let byte) where byte.isAsciiLetter: return tag(at: open)
    case 0x2f:
      guard open + 2 < html.count else { break }
      if html[open + 2].isAsciiLetter { return tag(at: open) }
      if html[open + 2] == 0x3e { return open + 3 }
      return declaration(at: open)
    case 0x21:
      guard html[open...].starts(with: "<!--".utf8) else { return declaration(at: open) }
      // `<!-->` and `<!--->` are complete.
      return passing(.comment, from: open, endOfComment(from: open + 4))
    case 0x3f: return declaration(at: open)
    default: break
    }
    write("&lt;")
    return open + 1
  }

  /// Skips to `end`, which is nil if it is not in the window. Markup longer than the window is skipped in pieces.
  mutating func passing(_ mode: State.Mode, from index: Int, _ end: Int?) -> Int? {
    if end == nil, !isLast {
      if index > 0 { return nil }
      state.mode = mode
      // A comment's end may cross the boundary.
      return html.count - 3
    }
    state.mode = .content
    return end ?? html.count
  }

  /// Returns the index after a comment's end, `-->` or `--!>`. `start` is after its beginning, whose dashes count.
  func endOfComment(from start: Int) -> Int? {
    var index = start
    while index < html.count, let close = html[index...].firstIndex(of: 0x3e) {
      let before = html[max(0, start - 2)..<close]
      if before.suffix(2).elementsEqual([0x2d, 0x2d]) { return close + 1 }
      if close >= start + 3, before.suffix(3).elementsEqual([0x2d, 0x2d, 0x21]) { return close + 1 }
      index = close + 1
    }
    return nil
  }

  /// Keeps a document type, which selects the browser's rendering mode. Removes other declarations.
  private mutating func declaration(at open: Int) -> Int? {
    let close = html[open...].firstIndex(of: 0x3e)
    if let close, !state.hasHead, state.hidden == 0, close - open <= 512,
      html[open...].prefix(9).map(\.asciiLowercase).elementsEqual("<!doctype".utf8)
    {
      output += "<!DOCTYPE".utf8 + html[(open + 9)..<close].filter { (0x20..<0x7f).contains($0) && $0 != 0x3c } + [0x3e]
      begin()
    }
    return passing(.declaration, from: open, close.map { $0 + 1 })
  }
}
