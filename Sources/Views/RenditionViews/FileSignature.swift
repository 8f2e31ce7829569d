internal import Bytes
internal import Conversion
internal import Tree

/// What a file's first bytes say of its kind, as far as it matters for conversions.
enum FileSignature: Sendable {
  case pdf
  case jpeg
  case otherImage

  init?(startingWith head: ArraySlice<UInt8>) {
    // Readers look for it in the first KiB.
    if head.prefix(1024).contains(run: "%PDF-") {
      self = .pdf
    } else if head.starts(with: [0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else if Self.isImage(head) {
      self = .otherImage
    } else {
      return nil
    }
  }

  private static let starts: [[UInt8]] = [
    Array("\u{89}PNG\r\n\u{1a}\n".unicodeScalars.map { UInt8($0.value) }), Array("GIF8".utf8), Array("BM".utf8),
    // TIFF and BigTIFF, in either order of bytes.
    [0x49, 0x49, 0x2a, 0x00], [0x4d, 0x4d, 0x00, 0x2a], [0x49, 0x49, 0x2b, 0x00], [0x4d, 0x4d, 0x00, 0x2b],
    // JPEG 2000, as a file and as a bare stream.
    [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20], [0xff, 0x4f, 0xff, 0x51],
    // OpenEXR.
    [0x76, 0x2f, 0x31, 0x01],
    // Raw photos of Fuji, Olympus and Panasonic; most others are TIFF.
    Array("FUJIFILMCCD-RAW ".utf8), Array("IIRO".utf8), Array("IIRS".utf8), Array("MMOR".utf8), Array("IIU\0".utf8),
  ]
  /// The brands of HEIF and AVIF, and of Canon's raw photos.
  private static let brands: Set<String> = [
    "heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1", "avif", "avis", "crx ",
  ]

  private static func isImage(_ head: ArraySlice<UInt8>) -> Bool {
    if starts.contains(where: { head.starts(with: $0) }) { return true }
    func text(_ range: Range<Int>) -> String {
      String(decoding: head.dropFirst(range.lowerBound).prefix(range.count), as: UTF8.self)
    }
    if text(0..<4) == "RIFF", text(8..<12) == "WEBP" { return true }
    if text(4..<8) == "ftyp", brands.contains(text(8..<12)) { return true }
    // Netpbm: P1 to P6, a blank.
    let bytes = Array(head.prefix(3))
    if bytes.count == 3, bytes[0] == 0x50, (0x31...0x36).contains(bytes[1]), [9, 10, 13, 32].contains(bytes[2]) {
      return true
    }
    return (head.first == 0x3c || head.starts(with: [0xef, 0xbb, 0xbf, 0x3c]))
      && head.contains(run: "<svg")
  }

  /// How a file made by a recipe starts, as far as views look.
  static func head(ofMade recipe: Recipe) -> [UInt8] {
    switch recipe {
    case .pages, .merged, .compressed, .image(.pdf, _): Array("%PDF-".utf8)
    case .image(.jpeg, _): [0xff, 0xd8, 0xff]
    case .image(.png, _), .image(.webp, _), .image(.tiff, _), .image(.gif, _), .image(.heic, _), .image(.avif, _),
      .image(.jp2, _):
      starts[0]
    case .text: []
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether these bytes occur one behind the other.
  fileprivate func contains(run: StaticString) -> Bool {
    unsafe withUnsafeBytes { bytes in
      let sought = unsafe UnsafeBufferPointer(start: run.utf8Start, count: run.utf8CodeUnitCount)
      return bytes.indices.contains { unsafe bytes[$0...].starts(with: sought) }
    }
  }
}
