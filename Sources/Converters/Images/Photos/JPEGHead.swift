internal import Bytes

/// The header of a JPEG: ITU-T T.81, B.1.
struct JPEGHead {
  private let file: [UInt8]
  let width: Int
  let height: Int
  /// The range of the EXIF block, without the marker, its length and its name.
  private let words: Range<Int>?

  /// Returns `nil` if the file is not a JPEG, or ends before its pixels.
  init?(_ file: [UInt8]) {
    func number(_ place: Int) -> Int { Int(bigEndianBytes: file.dropFirst(place).prefix(2)) }
    guard file.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
    var words: Range<Int>?
    var at = 2
    while at + 9 < file.count, file[at] == 0xFF {
      let (mark, size) = (file[at + 1], number(at + 2))
      guard size >= 2, at + 2 + size <= file.count else { return nil }
      if mark == 0xE1, words == nil, file[(at + 4)...].starts(with: "Exif\0\0".utf8) {
        words = at + 10..<max(at + 10, at + 2 + size)
      }
      // All frame markers; the excluded ones are tables.
      if (0xC0...0xCF).contains(mark), ![0xC4, 0xC8, 0xCC].contains(mark) {
        (width, height) = (number(at + 7), number(at + 5))
        (self.file, self.words) = (file, words)
        return
      }
      at += 2 + size
    }
    return nil
  }

  /// Returns the file with this orientation, unless it already contains one. Returns `nil` if the orientation cannot be
  /// added.
  func told(orientation: Int) -> [UInt8]? {
    guard let words else { return orientation == 1 ? file : inserting(orientation) }
    return orientation == 1 || EXIF.hasOrientation(Array(file[words])) ? file : nil
  }

  /// Inserts an EXIF block with a directory of one entry.
  private func inserting(_ orientation: Int) -> [UInt8] {
    let directory: [UInt8] = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
    let block = Array("Exif\0\0MM\0*\0\0\0\u{8}".utf8) + directory
    return file[..<2] + [0xFF, 0xE1] + [UInt8](bigEndian: block.count + 2, count: 2) + block + file[2...]
  }
}
