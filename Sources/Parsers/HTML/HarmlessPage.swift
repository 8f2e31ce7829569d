/// Sanitizes untrusted HTML pages.
package enum HarmlessPage {
  /// Returns the page without anything that runs, redirects, sends, or makes a browser load from or connect to
  /// elsewhere. Pictures and links beside it stay. O(n).
  ///
  /// - Parameter html: The page in UTF-8. No input is an error.
  package static func made(_ html: [UInt8]) -> [UInt8] {
    // Converts line ends as browsers do, which the sanitizer expects.
    var lines: [UInt8] = []
    lines.reserveCapacity(html.count)
    var isAfterReturn = false
    for byte in html {
      if byte == 0x0a, isAfterReturn {
        isAfterReturn = false
        continue
      }
      isAfterReturn = byte == 0x0d
      lines.append(isAfterReturn ? 0x0a : byte)
    }
    var links = ContentLinks()
    links.keepsRelative = true
    var state = SafeHTML.State()
    return SafeHTML.made(lines, isLast: true, links, &state).bytes
  }
}
