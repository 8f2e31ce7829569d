package import Bytes
internal import Text

/// Rewrites the links of an HTML part: to the message's files, by content ID (RFC 2392) or location (RFC 2557), or
/// elsewhere.
package struct ContentLinks: Sendable {
  /// The names in the attachments directory, by content ID.
  package var names: [[UInt8]: FileName]
  /// The names by location: absolute, or relative without a base.
  package var locations: [[UInt8]: FileName]
  /// The base of relative links. Empty if there is none.
  package var base: [UInt8]
  /// Whether files beside the page may be loaded. Relative links then stay unchanged.
  var keepsRelative = false

  package init(names: [[UInt8]: FileName] = [:], locations: [[UInt8]: FileName] = [:], base: [UInt8] = []) {
    self.names = names
    self.locations = locations
    self.base = base
  }

  /// The replacement for a link that must not be followed. about:invalid loads nothing.
  static let nowhere = Array("about:invalid".utf8)

  /// Returns the URL to load for `url` in the page: a file of the message, or a data URL, otherwise `nowhere`.
  func picture(_ url: [UInt8]) -> [UInt8] {
    let url = WebAddress.cleaned(url)
    if let file = file(url) { return file }
    if keepsRelative, Self.isRelative(url) { return url }
    return WebAddress.scheme(of: url) == "data" && Self.isPassive(url) ? url : Self.nowhere
  }

  /// Returns the target of a link to `url`: a file of the message, a fragment of the page, or the web, otherwise
  /// `nowhere`.
  func link(_ url: [UInt8]) -> [UInt8] {
    let url = WebAddress.cleaned(url)
    if url.first == 0x23 { return url }
    if let file = file(url) { return file }
    if keepsRelative, Self.isRelative(url) { return url }
    guard let scheme = WebAddress.scheme(of: url), Self.followed.contains(scheme) else { return Self.nowhere }
    return url
  }

  /// Returns whether a URL leads to the same server.
  private static func isRelative(_ url: [UInt8]) -> Bool {
    WebAddress.scheme(of: url) == nil && !WebAddress.leadsAway(url)
  }

  private static let followed: Set<String> = [
    "http", "https", "ftp", "mailto", "tel", "sms", "callto", "news", "nntp", "irc", "ircs", "xmpp", "sip", "sips",
    "geo",
    "magnet", "webcal", "feed",
  ]

  /// Returns whether a data URL is a picture, sound, film or font, which execute nothing.
  private static func isPassive(_ url: [UInt8]) -> Bool {
    let type = String(decoding: url.dropFirst(5).prefix(40).map(\.asciiLowercase), as: UTF8.self)
    return ["image/", "audio/", "video/", "font/", "application/font", "application/x-font"].contains {
      type.hasPrefix($0)
    }
  }

  /// Returns the path of the message's file for a URL.
  private func file(_ url: [UInt8]) -> [UInt8]? {
    if names.isEmpty, locations.isEmpty { return nil }
    if WebAddress.scheme(of: url) == "cid" {
      return (names[url[4...].percentDecoded] ?? names[Array(url[4...])]).map { Self.path($0) }
    }
    if locations.isEmpty { return nil }
    let fragment = url.firstIndex(of: 0x23) ?? url.endIndex
    let name = locations[WebAddress.absolute(Array(url[..<fragment]), base)] ?? locations[url]
    return name.map { Self.path($0) }
  }

  private static func path(_ name: FileName) -> [UInt8] { Array("attachments/".utf8) + encoded(name.bytes) }

  // MARK: Original HTML

  /// Returns `html` with each `cid:` URL of an existing part replaced by `attachments/NAME`, percent-encoded. O(n).
  package func resolved(_ html: [UInt8]) -> [UInt8] {
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
      result += Self.path(name)
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
