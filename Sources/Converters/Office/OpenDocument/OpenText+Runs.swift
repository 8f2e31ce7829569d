internal import WorkerKit

extension OpenText {
  /// Reads a paragraph's text to its end. The content of text boxes goes to `beside`. White space becomes one space, as
  /// in HTML (6.1.2).
  func readRuns(_ beside: BlockList) throws(JobFailure) -> [Run] {
    var runs: [Run] = []
    var looks: [Run.Look] = [[]]
    var links: [String?] = [nil]
    // Whether the last character is a space, or none precedes.
    var isSpaced = true
    while !looks.isEmpty, let event = try reader.next() {
      switch event {
      case .end:
        looks.removeLast()
        links.removeLast()
      case .text(let text):
        runs.add(Self.collapsed(text, &isSpaced), looks[looks.count - 1], link: links[links.count - 1])
      case .start(let element):
        var (look, link) = (looks[looks.count - 1], links[links.count - 1])
        var isPast = true
        switch element.name {
        case "text:s":
          // The file can claim any number of spaces.
          let count = min(max(1, element.number("text:c") ?? 1), 1000)
          runs.add(String(repeating: " ", count: count), look, link: link)
          isPast = false
        case "text:tab":
          runs.add("\t", look, link: link)
          isPast = false
        case "text:line-break":
          runs.append(Run(.lineBreak))
          isSpaced = true
          isPast = false
        case "text:note": runs.append(try readNote())
        case "office:annotation": runs.append(try readComment())
        case "text:ruby-text", "svg:title", "svg:desc", "text:script", "draw:object", "draw:object-ole", "math:math",
          "office:event-listeners", "text:hidden-paragraph":
          try reader.skip()
        case "text:hidden-text":
          if element["text:is-hidden"] == "true" { try reader.skip() } else { isPast = false }
        case "text:p", "text:h", "text:list", "table:table":
          let outer = taker
          taker = beside
          try readBlock(element)
          taker = outer
        case "draw:image":
          if let path = element["xlink:href"], !path.contains(":") {
            runs.append(Run(.image(path: path.hasPrefix("./") ? String(path.dropFirst(2)) : path, words: "")))
          }
          isPast = false
        case "text:a":
          link = element["xlink:href"]
          isPast = false
        case "text:span":
          let style = element["text:style-name"] ?? ""
          if styles.hidden.contains(style) {
            try reader.skip()
          } else {
            look.formUnion(styles.looks[style] ?? [])
            isPast = false
          }
        default: isPast = false
        }
        if element.name == "text:s" || element.name == "text:tab" { isSpaced = false }
        if !isPast {
          looks.append(look)
          links.append(link)
        }
      }
    }
    return runs
  }

  private static func collapsed(_ text: String, _ isSpaced: inout Bool) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      let isSpace = byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
      if !isSpace { result.append(byte) } else if !isSpaced { result.append(0x20) }
      isSpaced = isSpace
    }
    return String(decoding: result, as: UTF8.self)
  }
}
