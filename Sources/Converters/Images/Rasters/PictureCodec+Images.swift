internal import Catalogue
internal import Pictures
internal import WorkerKit

extension PictureCodec {
  /// The formats whose files only libavcodec reads, with the signatures of the catalogue.
  private static let known: [(format: Format, codec: PictureCodec)] = [
    (.dds, .dds), (.fits, .fits), (.sunRaster, .sunRaster), (.sgi, .sgi), (.xwd, .xwd),
    (.pcx, .pcx), (.xbm, .xbm), (.xpm, .xpm),
  ]

  /// Finds the codec that reads a file. Returns `nil` if none does.
  init?(_ input: JobInput) {
    let head = unsafe Array(input.bytes.prefix(4096))
    if let found = Self.known.first(where: { $0.format.isSignature(head[...]) }) {
      self = found.codec
    } else if Format.images.contains(where: { $0.isSignature(head[...]) }) || !Self.isTarga(head) {
      return nil
    } else {
      self = .tga
    }
  }

  /// Returns whether a file is complete according to its header. libavcodec accepts some truncated files.
  func isWhole(_ input: JobInput) -> Bool {
    switch self {
    case .sunRaster: input.count - 32 >= Self.number(input, at: 28) + Self.number(input, at: 16)
    default: true
    }
  }

  private static func number(_ input: JobInput, at place: Int) -> Int {
    InputReader(input, isBigEndian: true).word(place, 4)
  }

  /// Returns whether the numbers of a header without a signature are plausible (Truevision TGA 2.0, page 6). These are
  /// the kinds of the colour map and of the picture, its sides, and the bits per pixel.
  private static func isTarga(_ head: [UInt8]) -> Bool {
    guard head.count >= 18 else { return false }
    let (map, kind, depth) = (head[1], head[2], head[16])
    let hasSides = (head[12] | head[13]) != 0 && (head[14] | head[15]) != 0
    let isMapped = map == 1 && (kind == 1 || kind == 9) && [15, 16, 24, 32].contains(head[7])
    let isPlain = map <= 1 && [2, 3, 10, 11].contains(kind)
    let isBits = kind == 3 && depth == 1
    return hasSides && (isMapped || isPlain) && (isBits || [8, 15, 16, 24, 32].contains(depth))
  }
}
