internal import Text

/// URLs as browsers parse them (RFC 3986, and the WHATWG URL Standard where it is more lenient).
package enum WebAddress {
  /// Returns a URL without the characters that browsers ignore: surrounding control characters and spaces, tabs and
  /// line breaks within.
  static func cleaned(_ url: [UInt8]) -> [UInt8] {
    var url = url[...]
    while let first = url.first, first <= 0x20 { url.removeFirst() }
    while let last = url.last, last <= 0x20 { url.removeLast() }
    let isPassedOver: (UInt8) -> Bool = { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d || $0 == 0 }
    return url.contains(where: isPassedOver) ? url.filter { !isPassedOver($0) } : Array(url)
  }

  /// Returns the scheme, in lower case. Returns `nil` for a relative URL.
  package static func scheme(of url: [UInt8]) -> String? {
    guard let first = url.first, first.isAsciiLetter, first < 0x80 else { return nil }
    let end = url.prefix(64).firstIndex { byte in
      !(byte.isAsciiLetter && byte < 0x80 || byte.isAsciiDigit || byte == 0x2b || byte == 0x2d || byte == 0x2e)
    }
    guard let end, url[end] == 0x3a else { return nil }
    return String(decoding: url[..<end].map(\.asciiLowercase), as: UTF8.self)
  }

  /// Returns whether loading `url` leaves the page's own directory: it has a scheme that loads, or a server name.
  static func leadsAway(_ url: [UInt8]) -> Bool {
    let isSlash: (UInt8) -> Bool = { $0 == 0x2f || $0 == 0x5c }
    if url.count >= 2, isSlash(url[0]), isSlash(url[1]) { return true }
    guard let scheme = scheme(of: url) else { return false }
    return ["http", "https", "ws", "wss", "ftp", "file", "blob", "filesystem"].contains(scheme)
  }

  /// Resolves `url` against `base` (RFC 3986 §5.2). Without a base only dot segments are removed.
  package static func absolute(_ url: [UInt8], _ base: [UInt8]) -> [UInt8] {
    if scheme(of: url) != nil { return url }
    let start = base.firstIndex(of: 0x3a).map { $0 + 1 } ?? 0
    let hasServer = base[start...].starts(with: [0x2f, 0x2f])
    let path = hasServer ? base[(start + 2)...].firstIndex(of: 0x2f) ?? base.count : start
    if url.starts(with: [0x2f, 0x2f]) { return base[..<start] + url }
    if url.first == 0x2f { return base[..<path] + undotted(url) }
    let folder = base[path...].lastIndex(of: 0x2f).map { base[path...$0] } ?? (hasServer ? [0x2f] : [])
    return base[..<path] + undotted(folder + url)
  }

  /// Returns a path without `.` and `..` segments.
  private static func undotted(_ path: some Sequence<UInt8>) -> [UInt8] {
    let path = Array(path)
    guard path.contains(0x2e) else { return path }
    var kept: [ArraySlice<UInt8>] = []
    for part in path.split(separator: 0x2f, omittingEmptySubsequences: false) {
      if part.elementsEqual([0x2e]) { continue }
      if part.elementsEqual([0x2e, 0x2e]) {
        if let last = kept.last, !last.isEmpty || kept.count > 1 { kept.removeLast() }
      } else {
        kept.append(part)
      }
    }
    return Array(kept.joined(separator: [0x2f]))
  }
}
