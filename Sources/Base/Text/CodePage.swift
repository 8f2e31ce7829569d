/// The code pages of Windows.
package enum CodePage {
  /// Decodes text in a code page. Invalid bytes become U+FFFD. An unknown code page is taken for 1252. Takes a lock unless
  /// the bytes are ASCII.
  package static func text(_ bytes: ArraySlice<UInt8>, in page: Int) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    return CharsetConverters.shared.utf8(bytes, from: CharsetLabel.page(page), isRepaired: true)
      ?? CharsetConverters.shared.utf8(bytes, from: CharsetDetector.western, isRepaired: true)
      ?? String(decoding: bytes, as: UTF8.self)
  }
}
