internal import Bytes

/// The texts that the pages of a document have, as a worker lists them: for each page the size of its text in decimal,
/// `!` if the page is damaged, and a line feed, then the text. A page without text has the size `-`, and one that cannot
/// be read the size 0.
public struct PageTexts: Sendable {
  public struct Page: Sendable {
    /// The text, which a form feed ends. `nil` if it has to be recognized, empty if the page cannot be read.
    public let text: ArraySlice<UInt8>?
    /// Whether a part of the page cannot be read.
    public let isDamaged: Bool
  }

  public let pages: [Page]

  /// The maximum number of pages.
  public static let most = 100_000
  /// The maximum size of a list, in bytes.
  public static let longest: Int64 = 256 << 20

  public static func entry(_ text: [UInt8]?, isDamaged: Bool = false) -> [UInt8] {
    Array("\(text.map { "\($0.count)" } ?? "-")\(isDamaged ? "!" : "")\n".utf8) + (text ?? [])
  }

  /// Parses a list. Returns `nil` if it is invalid.
  public init?(_ bytes: [UInt8]) {
    var pages: [Page] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard pages.count < Self.most, let end = rest.prefix(20).firstIndex(of: 0x0a) else { return nil }
      let isDamaged = rest[..<end].last == UInt8(ascii: "!")
      let size = rest[..<end].dropLast(isDamaged ? 1 : 0)
      rest = rest[(end + 1)...]
      if size.elementsEqual("-".utf8) {
        pages.append(Page(text: nil, isDamaged: isDamaged))
        continue
      }
      guard let count = Int(String(decoding: size, as: UTF8.self)), count >= 0, count <= rest.count else { return nil }
      pages.append(Page(text: rest.prefix(count), isDamaged: isDamaged))
      rest = rest.dropFirst(count)
    }
    self.pages = pages
  }
}
