/// An HTML page of anybody's, as it can be shown.
public enum HarmlessPage {
  /// The page without what runs, redirects, sends, loads from elsewhere, or has a browser connect to elsewhere. Pictures
  /// and links that lie beside it stay. O(n).
  ///
  /// - Parameter html: in UTF-8. No input is an error.
  public static func made(_ html: [UInt8]) -> [UInt8] {
    // As browsers count line ends; what follows expects it.
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
    var state = SafeHTML.State()
    return SafeHTML.made(lines, isLast: true, ContentLinks(keepsRelative: true), &state).bytes
  }
}
