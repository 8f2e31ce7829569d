internal import Bytes
internal import Catalogue
internal import Pictures
internal import WorkerKit

/// The largest picture of an icon: Windows icons and cursors, and Apple icons.
struct EmbeddedIcon {
  /// The picture's range in the icon's file.
  private let content: Range<Int>
  private let input: JobInput
  private let isApple: Bool
  private let width: Int

  /// The first bytes of files of other formats inside icons: PNG, JPEG 2000 as a file and as a codestream.
  private static let starts: [[UInt8]] = [
    [0x89, 0x50, 0x4E, 0x47], [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20], [0xFF, 0x4F, 0xFF, 0x51],
  ]

  /// Returns `nil` if the file is not an icon with a picture.
  init?(_ input: JobInput) {
    guard input.starts(with: [0, 0]) || input.starts(with: Format.icns.head) else { return nil }
    let head = unsafe Array(input.bytes.prefix(22))
    let best: (content: Range<Int>, width: Int)?
    isApple = Format.icns.isSignature(head[...])
    if isApple {
      best = EmbeddedIcon.largestOfApple(InputReader(input, isBigEndian: true))
    } else if Format.ico.isSignature(head[...]) {
      best = EmbeddedIcon.largestOfWindows(InputReader(input))
    } else {
      return nil
    }
    guard let best else { return nil }
    (content, width) = best
    self.input = input
  }

  /// Returns an icon's largest picture if it is a file of another format. Returns `nil` otherwise.
  static func file(in input: JobInput) throws(JobFailure) -> JobInput? {
    guard let icon = EmbeddedIcon(input) else { return nil }
    let start = unsafe Array(input.bytes[icon.content].prefix(12))
    guard starts.contains(where: start.starts(with:)) else { return nil }
    return try input.part(at: icon.content.lowerBound, count: icon.content.count)
  }

  private static func largestOfWindows(_ bytes: InputReader) -> (content: Range<Int>, width: Int)? {
    var best: (content: Range<Int>, width: Int, rank: Int)?
    for index in 0..<bytes.word(4, 2) {
      let entry = 6 + 16 * index
      let (said, place) = (bytes.word(entry + 8, 4), bytes.word(entry + 12, 4))
      // Some writers record a wrong number of bytes. A bitmap's header determines the correct one, and a PNG has an
      // end.
      let least = bytes.word(place, 4) <= 124 ? IconBitmap.size(bytes, at: place) : bytes.count - place
      let size = min(max(said, least), bytes.count - place)
      guard size > 40 else { continue }
      // 0 stands for 256. Cursors store another number in the field of an icon's bits per pixel.
      let (width, height) = (bytes.word(entry, 1), bytes.word(entry + 1, 1))
      let bits = bytes.word(2, 2) == 1 ? min(63, bytes.word(entry + 6, 2)) : 0
      let rank = (width == 0 ? 256 : width) * (height == 0 ? 256 : height) * 64 + bits
      if rank > best?.rank ?? 0 { best = (place..<place + size, width, rank) }
    }
    return best.map { ($0.content, $0.width) }
  }

  /// Returns the largest picture: a file of another format, or one of an older system, whose name determines its size.
  private static func largestOfApple(_ bytes: InputReader) -> (content: Range<Int>, width: Int)? {
    var best: (content: Range<Int>, width: Int)?
    for part in parts(of: bytes) {
      var width = AppleIcon.sides[part.name] ?? 0
      if starts[0].indices.allSatisfy({ bytes.byte(part.content.lowerBound + $0) == starts[0][$0] }) {
        width = bytes.word(part.content.lowerBound + 16, 4)
      } else if width == 0 {
        width = AppleIcon.sidesOfFiles[part.name] ?? 0
      }
      if width > best?.width ?? 0 { best = (part.content, width) }
    }
    return best
  }

  private static func parts(of bytes: InputReader) -> [(name: String, content: Range<Int>)] {
    var parts: [(name: String, content: Range<Int>)] = []
    var at = 8
    while at + 8 < bytes.count, parts.count < 256 {
      let size = bytes.word(at + 4, 4)
      guard size >= 8, size <= bytes.count - at else { break }
      parts.append((String(decoding: (at..<at + 4).map(bytes.byte), as: UTF8.self), at + 8..<at + size))
      at += size
    }
    return parts
  }

  /// Returns the picture if it is not a file of another format.
  func picture() throws(JobFailure) -> VipsPicture {
    guard isApple else { return try IconBitmap(unsafe Array(input.bytes[content])).picture() }
    let parts = EmbeddedIcon.parts(of: InputReader(input, isBigEndian: true))
    guard let name = parts.first(where: { $0.content == content })?.name else { throw AppleIcon.failure }
    let mask = AppleIcon.masks[name].flatMap { mask in parts.first { $0.name == mask } }
    let opacity = mask.map { unsafe Array(input.bytes[$0.content]) }
    return try AppleIcon(name, unsafe Array(input.bytes[content]), opacity: opacity).picture()
  }
}
