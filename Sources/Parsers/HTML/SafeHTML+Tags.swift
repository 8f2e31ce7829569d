internal import Text

/// Tags and their attributes.
extension SafeHTML {
  mutating func tag(at open: Int) -> Int? {
    guard let tag = HTMLTag(html, at: open) else {
      // A document that ends within a tag does not have that tag.
      if isLast { return html.count }
      if open > 0 { return nil }
      var place = HTMLTag.Place.outside
      _ = place.pass(html, from: open + 1)
      state.mode = .tag(place)
      return html.count
    }
    let name = html[tag.name]
    switch SafeElements.element(name) {
    case .kept: write(tag, as: name)
    case .renamed(let other): write(tag, as: other[...])
    case .unwrapped: break
    case .hidden: if state.hidden < Int.max - 1 { state.hidden = max(0, state.hidden + (tag.isEnd ? -1 : 1)) }
    case .removed where !tag.isEnd: enter(tag, isShown: false)
    case .style where !tag.isEnd: return style(tag, at: open)
    case .text where !tag.isEnd:
      write(tag, as: name)
      enter(tag, isShown: state.hidden == 0, hasReferences: true)
    case .literal where !tag.isEnd:
      write("<pre>")
      enter(tag, isShown: state.hidden == 0)
    case .removed, .style, .text, .literal: break
    }
    return tag.end
  }

  mutating func enter(_ tag: HTMLTag, isShown: Bool, hasReferences: Bool = false) {
    let name = html[tag.name].map(\.asciiLowercase)
    state.mode = .raw(State.Raw(name: name, isShown: isShown, hasReferences: hasReferences))
  }

  mutating func write(_ tag: HTMLTag, as name: ArraySlice<UInt8>) {
    if state.hidden > 0 { return }
    begin()
    output.append(0x3c)
    if tag.isEnd { output.append(0x2f) }
    output += name.lazy.map(\.asciiLowercase)
    if !tag.isEnd { for attribute in tag.attributes { write(attribute) } }
    output.append(0x3e)
  }

  private mutating func write(_ attribute: HTMLTag.Attribute) {
    let name = html[attribute.name]
    guard let kind = SafeElements.attribute(name) else { return }
    let raw = html[attribute.value]
    var value: [UInt8]
    switch kind {
    case .kept:
      output.append(0x20)
      output += name
      if attribute.value.isEmpty { return }
      output.append(0x3d)
      return write(value: raw, escapesReferences: false)
    case .link: value = links.link(HTMLEntity.resolved(raw))
    case .picture: value = links.picture(HTMLEntity.resolved(raw))
    case .pictures:
      value = pictures(HTMLEntity.resolved(raw))
      if value.isEmpty { return }
    case .style: value = SafeStyle.made(HTMLEntity.resolved(raw), links)
    }
    output.append(0x20)
    output += name
    output.append(0x3d)
    write(value: value)
  }

  /// Returns the candidates of a `srcset` that may be shown.
  private func pictures(_ set: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var words = set.split(whereSeparator: HTMLTag.isSpace)[...]
    while var url = words.popFirst() {
      while url.first == 0x2c { url.removeFirst() }
      if url.isEmpty { continue }
      var descriptors: [ArraySlice<UInt8>] = []
      if url.last == 0x2c {
        while url.last == 0x2c { url.removeLast() }
      } else {
        while let word = words.popFirst() {
          descriptors.append(word.last == 0x2c ? word.dropLast() : word)
          if word.last == 0x2c { break }
        }
      }
      let target = links.picture(Array(url))
      if target == ContentLinks.nowhere { continue }
      if !result.isEmpty { result += [0x2c, 0x20] }
      result += target
      for word in descriptors { result += [0x20] + word }
    }
    return result
  }
}
