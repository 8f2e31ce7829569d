internal import Bytes

/// Where links to parts lead that HTML has by content id (RFC 2392).
struct ContentLinks: Sendable {
  /// Names in the folder of attachments, by content id.
  let names: [[UInt8]: FileName]

  /// `html` with each `cid:` URL of a part that is there replaced by `attachments/NAME`, percent-encoded. Linear.
  func resolved(_ html: [UInt8]) -> [UInt8] {
    guard !names.isEmpty else { return html }
    var result: [UInt8] = []
    result.reserveCapacity(html.count + 256)
    var copied = 0
    var index = 0
    while let colon = html[index...].firstIndex(of: 0x3a) {
      index = colon + 1
      guard colon >= max(4, copied + 3), Self.isScheme(html[(colon - 3)..<colon]), Self.isBefore(html[colon - 4]) else {
        continue
      }
      let end = html[index...].prefix(1024).firstIndex { Self.isBehind($0) } ?? min(html.count, index + 1024)
      guard let name = names[html[index..<end].percentDecoded] else { continue }
      result += html[copied..<(colon - 3)]
      result += "attachments/".utf8
      result += Self.encoded(name.bytes)
      copied = end
      index = end
    }
    return result + html[copied...]
  }

  private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    zip(bytes, "cid".utf8).allSatisfy { $0.asciiLowercase == $1 }
  }

  private static func isBefore(_ byte: UInt8) -> Bool { byte <= 0x20 || [0x22, 0x27, 0x28, 0x3d].contains(byte) }
  private static func isBehind(_ byte: UInt8) -> Bool { byte <= 0x20 || [0x22, 0x27, 0x29, 0x3e].contains(byte) }

  private static func encoded(_ name: ArraySlice<UInt8>) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in name {
      if byte.isAsciiLetter && byte < 0x80 || byte.isAsciiDigit || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte) {
        result.append(byte)
      } else {
        result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return result
  }
}
