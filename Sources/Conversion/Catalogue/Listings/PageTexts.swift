internal import Bytes

/// The texts that the pages of a document have, as a worker lists them: for each page the size of its text in decimal
/// and a line feed, then the text. A page without text has the size `-`.
public struct PageTexts: Sendable {
  /// The text of each page, which a form feed ends. `nil` for a page whose text has to be recognized.
  public let pages: [ArraySlice<UInt8>?]

  /// The maximum number of pages.
  public static let most = 100_000
  /// The maximum size of a list, in bytes.
  public static let longest: Int64 = 256 << 20

  public static func entry(_ text: [UInt8]?) -> [UInt8] {
    guard let text else { return Array("-\n".utf8) }
    return Array("\(text.count)\n".utf8) + text
  }

  /// Parses a list. Returns `nil` if it is invalid.
  public init?(_ bytes: [UInt8]) {
    var pages: [ArraySlice<UInt8>?] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard pages.count < Self.most, let end = rest.prefix(20).firstIndex(of: 0x0a) else { return nil }
      let size = rest[..<end]
      rest = rest[(end + 1)...]
      if size.elementsEqual("-".utf8) {
        pages.append(nil)
        continue
      }
      guard let count = Int(String(decoding: size, as: UTF8.self)), count >= 0, count <= rest.count else { return nil }
      pages.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    self.pages = pages
  }
}
