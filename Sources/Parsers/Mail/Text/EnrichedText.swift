internal import Text

/// Extracts the text of `text/enriched` (RFC 1896), and of its predecessor `text/richtext` (RFC 1341 §7.1.3).
enum EnrichedText {
  /// Returns the text without commands and their parameters. `<<` becomes `<`, a single line break becomes a space, and
  /// of several line breaks one is removed. O(n).
  static func text(of enriched: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    var isParameter = false
    while index < enriched.count {
      let byte = enriched[index]
      if byte == 0x3c, index + 1 < enriched.count, enriched[index + 1] == 0x3c {
        if !isParameter { result.append(0x3c) }
        index += 2
      } else if byte == 0x3c, let close = enriched[index...].prefix(64).firstIndex(of: 0x3e) {
        switch String(decoding: enriched[(index + 1)..<close].map(\.asciiLowercase), as: UTF8.self) {
        case "param": isParameter = true
        case "/param": isParameter = false
        case "nl", "np": result.append(0x0a)
        case "lt": result.append(0x3c)
        default: break
        }
        index = close + 1
      } else if byte == 0x0a {
        let end = enriched[index...].firstIndex { $0 != 0x0a } ?? enriched.count
        if end == enriched.count {
          result.append(0x0a)
        } else {
          result += end - index == 1 ? [0x20] : Array(repeating: 0x0a, count: end - index - 1)
        }
        index = end
      } else {
        if !isParameter { result.append(byte) }
        index += 1
      }
    }
    return result
  }
}
