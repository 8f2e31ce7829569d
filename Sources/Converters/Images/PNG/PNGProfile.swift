internal import Bytes
internal import Pixels
internal import WorkerKit

/// The EXIF data of a PNG in a text chunk, as ImageMagick and ExifTool wrote it before PNG had a chunk for it. The text
/// is a line with the kind, a line with the number of bytes, and the bytes as hexadecimal digits.
struct PNGProfile {
  /// The change of a text chunk of EXIF data into the chunk that libvips reads. Nil if the file has that chunk.
  private(set) var patch: InputStream.Patch?
  /// The orientation in data after the pixels, which libvips does not read.
  private(set) var orientation: Int?

  private static let keyword = "Raw profile type exif"

  /// Returns `nil` if the file is not a PNG. Reads the header of each chunk.
  init?(_ input: JobInput) {
    guard input.starts(with: PNGChunks.signature) else { return nil }
    func read(_ place: Int, _ count: Int) -> [UInt8] { input.read(count, at: place) }
    var (text, chunk): (InputStream.Patch?, Bool) = (nil, false)
    var (early, late): (Int?, Int?) = (nil, nil)
    var isLate = false
    PNGChunks.places(size: input.count, read) { name, place in
      if name == "IDAT" { isLate = true }
      guard ["eXIf", "tEXt", "zTXt", "iTXt"].contains(name), place.count <= PNGText.largest, !chunk else { return }
      let content = read(place.lowerBound + 8, place.count - 12)
      guard content.count == place.count - 12 else { return }
      chunk = name == "eXIf"
      guard let data = chunk ? content : text == nil ? Self.exif(name, content) : nil else { return }
      if chunk { text = nil }
      if isLate { late = EXIF.orientation(of: data) } else { early = 1 }
      if chunk { return }
      // Zeros after the data have no meaning. If compressed digits are shorter than the data, only the orientation is
      // kept.
      let fitting = [data, EXIF.orientationOnly(of: data)].first { $0.count <= content.count }
      guard let fitting else { return }
      let filled = fitting + [UInt8](repeating: 0, count: content.count - fitting.count)
      text = InputStream.Patch(place: place.lowerBound, bytes: PNGChunks.chunk("eXIf", filled))
    }
    patch = text
    orientation = early == nil ? late : nil
  }

  /// Returns the data of a chunk, starting with the byte order. Returns `nil` if it is another text.
  private static func exif(_ name: String, _ content: [UInt8]) -> [UInt8]? {
    guard let text = PNGText(name, content), text.keyword == keyword else { return nil }
    let lines = text.bytes.split(separator: 0x0A)
    guard lines.count > 2, let count = Int(String(decoding: lines[1].filter { $0 != 0x20 }, as: UTF8.self)) else {
      return nil
    }
    let digits = lines[2...].joined().compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard count > 0, digits.count / 2 >= count else { return nil }
    let data = (0..<count).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    let block = data.starts(with: "Exif\0\0".utf8) ? Array(data.dropFirst(6)) : data
    return block.starts(with: "II".utf8) || block.starts(with: "MM".utf8) ? block : nil
  }
}
