internal import Text

/// Elements whose content is not HTML.
extension SafeHTML {
  mutating func style(_ tag: HTMLTag, at open: Int) -> Int? {
    guard let close = endTag(Array("style".utf8), from: tag.end) ?? (isLast ? html.count : nil) else {
      if open > 0 { return nil }
      enter(tag, isShown: false)
      return tag.end
    }
    write(tag, as: html[tag.name])
    if state.hidden == 0 {
      output += SafeStyle.made(Array(html[tag.end..<close]), links)
      output += "</style>".utf8
    }
    return close < html.count ? endOfTag(at: close) : close
  }

  /// Returns the index of an element's next end tag. An incomplete one at the very end does not count.
  private func endTag(_ name: [UInt8], from start: Int) -> Int? {
    var index = start
    while index < html.count, let open = html[index...].firstIndex(of: 0x3c) {
      let end = open + 2 + name.count
      if end < html.count, html[open + 1] == 0x2f,
        zip(html[(open + 2)..<end], name).allSatisfy({ $0.asciiLowercase == $1 }),
        HTMLTag.isSpace(html[end]) || html[end] == 0x2f || html[end] == 0x3e
      {
        return open
      }
      index = open + 1
    }
    return nil
  }

  private mutating func endOfTag(at open: Int) -> Int {
    if let tag = HTMLTag(html, at: open) { return tag.end }
    if !isLast { state.mode = .tag(.outside) }
    return isLast ? html.count : open + 1
  }

  mutating func content(of raw: State.Raw, from index: Int) -> Int? {
    if let close = raw.name == Array("plaintext".utf8) ? nil : endTag(raw.name, from: index) {
      if !isLast, close > index, HTMLTag(html, at: close) == nil {
        write(raw, index..<close)
        return close
      }
      write(raw, index..<close)
      state.mode = .content
      if raw.isShown { end(raw) }
      return endOfTag(at: close)
    }
    // The start of an end tag may be last in the window.
    let stop = isLast ? html.count : max(index, html.count - raw.name.count - 3)
    write(raw, index..<stop)
    return stop == index && !isLast ? nil : stop
  }

  private mutating func write(_ raw: State.Raw, _ range: Range<Int>) {
    guard raw.isShown else { return }
    for byte in html[range] {
      switch byte {
      case 0: break
      case 0x3c: output += "&lt;".utf8
      case 0x26 where !raw.hasReferences: output += "&amp;".utf8
      default: output.append(byte)
      }
    }
  }

  mutating func end(_ raw: State.Raw) {
    output += "</".utf8 + (raw.hasReferences ? raw.name : Array("pre".utf8)) + [0x3e]
  }
}
