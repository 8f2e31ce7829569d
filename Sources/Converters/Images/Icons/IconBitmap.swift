internal import Bytes
internal import Catalogue
internal import Pictures
internal import WorkerKit

/// A picture of a Windows icon: a bitmap without a file header, followed by a mask of the transparent pixels.
struct IconBitmap {
  private let bytes: [UInt8]
  private let width: Int
  private let height: Int
  private let depth: Int
  private let mask: Int
  /// The picture as a bitmap file, without the mask.
  private let file: [UInt8]

  init(_ bytes: [UInt8]) throws(JobFailure) {
    func number(_ place: Int, _ size: Int) -> Int { Int(littleEndianBytes: bytes.dropFirst(place).prefix(size)) }
    let (header, width, both, depth) = (number(0, 4), number(4, 4), number(8, 4), number(14, 2))
    // The height includes the mask's rows.
    let height = both / 2
    // Longer headers contain more colour information.
    guard [40, 52, 56, 108, 124].contains(header), bytes.count > header,
      (1...1024).contains(width), (1...1024).contains(height),
      [1, 4, 8, 16, 24, 32].contains(depth), number(16, 4) == 0
    else { throw JobFailure(.unsupported, "is an icon of an unknown kind") }
    let colours = depth > 8 ? 0 : (number(32, 4) == 0 ? 1 << depth : min(256, number(32, 4)))
    let pixels = header + 4 * colours
    mask = pixels + (width * depth + 31) / 32 * 4 * height
    guard bytes.count >= mask else { throw JobFailure(.damaged, "ends before its last row") }
    // Adds a file header, and sets the height of the picture alone.
    let start = Array("BM".utf8) + [UInt8](littleEndian: 14 + mask, count: 4) + [0, 0, 0, 0]
    var file = start + [UInt8](littleEndian: 14 + pixels, count: 4) + bytes[..<mask]
    file.replaceSubrange(14 + 8..<14 + 12, with: [UInt8](littleEndian: height, count: 4))
    // A profile follows the pixels, at the offset of the mask in other files.
    let end = header == 124 && number(116, 4) > 0 ? min(bytes.count, max(mask, number(112, 4))) : bytes.count
    self.bytes = Array(bytes[..<end])
    (self.width, self.height, self.depth) = (width, height, depth)
    self.file = file
  }

  /// Returns the number of bytes of a bitmap and its mask, according to the header at `place`.
  static func size(_ bytes: InputReader, at place: Int) -> Int {
    let (header, depth) = (bytes.word(place, 4), bytes.word(place + 14, 2))
    let (width, height) = (min(1024, bytes.word(place + 4, 4)), min(2048, bytes.word(place + 8, 4)) / 2)
    let said = min(256, bytes.word(place + 32, 4))
    let colours = depth > 8 ? 0 : said == 0 ? 1 << depth : said
    return header + 4 * colours + ((width * depth + 31) / 32 + (width + 31) / 32) * 4 * height
  }

  func picture() throws(JobFailure) -> VipsPicture {
    let picture = try VipsPicture(PictureCodec.bmp.pixels(of: file))
    // 32-bit pixels contain their alpha.
    guard !picture.hasAlpha else { return picture }
    let step = (width + 31) / 32 * 4
    guard bytes.count >= mask + step * height, depth < 32 else { return picture }
    var opacity: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let isClear = bytes[mask + (height - 1 - y) * step + x / 8] >> (7 - UInt8(x % 8)) & 1 == 1
        opacity.append(isClear ? 0 : 255)
      }
    }
    let shown = try unsafe VipsPicture(copying: opacity.span.bytes, width: width, height: height, bands: 1)
    var call = try VipsCall("bandjoin")
    call.set("in", [picture, shown])
    return try call.result()
  }
}
