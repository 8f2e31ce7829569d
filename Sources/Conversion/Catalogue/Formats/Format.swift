public import Bytes

/// A file format: its names, extensions, MIME types, signature and family.
public struct Format: Sendable {
  public enum Family: Sendable {
    case image, rawPhoto, pageDocument, officeDocument, sound, film, table, archive, mail, text
  }

  /// The name after `.as-` and in recipes. Unique.
  public let name: String
  /// Other spellings of the name: `jpg`.
  public let otherNames: [String]
  /// The extensions in lower case, the most common first.
  public let extensions: [FileExtension]
  public let mimeType: String
  /// Other names of the MIME type, and the types of variants.
  public let otherMimeTypes: [String]
  public let family: Family
  /// Whether a file that starts with these bytes has this format. The bytes are the first 4 KiB, or the whole file if
  /// it is smaller.
  public let isSignature: @Sendable (ArraySlice<UInt8>) -> Bool
  /// The first bytes of files made in this format. Empty if they do not identify it.
  public let head: [UInt8]

  /// Creates a format.
  ///
  /// - Parameter signature: The test for the format. If `nil`, files that start with `head` match, and no files if that
  ///   is empty.
  public init(
    _ name: String, otherNames: [String] = [], extensions: [FileExtension], mimeType: String,
    otherMimeTypes: [String] = [],
    family: Family, head: [UInt8] = [], signature: (@Sendable (ArraySlice<UInt8>) -> Bool)? = nil
  ) {
    self.name = name
    self.otherNames = otherNames
    self.extensions = extensions
    self.mimeType = mimeType
    self.otherMimeTypes = otherMimeTypes
    self.family = family
    self.head = head
    isSignature = signature ?? { bytes in !head.isEmpty && bytes.starts(with: head) }
  }
}

extension Format: Hashable {
  public static func == (one: Format, other: Format) -> Bool { one.name == other.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Sequence<Format> {
  /// The extensions of all formats.
  public var extensions: Set<FileExtension> { reduce(into: []) { $0.formUnion($1.extensions) } }
}

extension ArraySlice<UInt8> {
  /// Returns whether the bytes of `text` occur in sequence.
  func contains(run text: StaticString) -> Bool {
    unsafe withUnsafeBytes { bytes in
      let sought = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
      return bytes.indices.contains { unsafe bytes[$0...].starts(with: sought) }
    }
  }

  /// Returns whether the bytes of `text` are at `offset`.
  func has(_ text: StaticString, at offset: Int) -> Bool {
    unsafe dropFirst(offset).starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

/// Formats of documents.
extension Format {
  /// PDF. The signature can be anywhere in the first 1 KiB, where readers search for it.
  public static let pdf = Format(
    "pdf", extensions: ["pdf"], mimeType: "application/pdf", family: .pageDocument, head: Array("%PDF-".utf8)
  ) { $0.prefix(1024).contains(run: "%PDF-") }
  public static let plainText = Format("txt", extensions: ["txt"], mimeType: "text/plain", family: .text)
  public static let html = Format("html", extensions: ["html", "htm"], mimeType: "text/html", family: .text)
  public static let hocr = Format("hocr", extensions: ["hocr"], mimeType: "text/vnd.hocr+html", family: .text)
  public static let tsv = Format("tsv", extensions: ["tsv"], mimeType: "text/tab-separated-values", family: .table)

  public static let documents: [Format] = [.pdf]
}

/// Formats of text documents, spreadsheets, presentations and books.
extension Format {
  public static let docx = openXML("docx", ["docx", "docm", "dotx", "dotm"], "wordprocessingml.document", "word/")
  public static let pptx = openXML(
    "pptx", ["pptx", "pptm", "ppsx", "ppsm", "potx"], "presentationml.presentation", "ppt/")
  public static let xlsx = openXML("xlsx", ["xlsx", "xlsm", "xltx"], "spreadsheetml.sheet", "xl/")
  public static let odt = openDocument("odt", ["odt", "ott"], "text")
  public static let odp = openDocument("odp", ["odp", "otp"], "presentation")
  public static let ods = openDocument("ods", ["ods", "ots"], "spreadsheet")
  public static let epub = Format(
    "epub", extensions: ["epub"], mimeType: "application/epub+zip", family: .officeDocument, head: zip
  ) { $0.starts(with: zip) && $0.has("mimetypeapplication/epub+zip", at: typeOffset) }
  public static let rtf = Format(
    "rtf", extensions: ["rtf"], mimeType: "application/rtf", otherMimeTypes: ["text/rtf"], family: .officeDocument,
    head: Array("{\\rt".utf8))
  public static let markdown = Format("md", extensions: ["md", "markdown"], mimeType: "text/markdown", family: .text)

  /// The format of sheets. Its content does not identify it.
  public static let csv = Format("csv", extensions: ["csv"], mimeType: "text/csv", family: .table)

  /// Formats from before 2007. These are Compound File Binary files, whose first bytes do not identify the kind of
  /// document.
  public static let doc = compound("doc", ["doc", "dot"], "application/msword", "W\0o\0r\0d\0D\0o\0c\0")
  public static let xls = compound("xls", ["xls", "xlt"], "application/vnd.ms-excel", "W\0o\0r\0k\0b\0o\0o\0k\0")
  public static let ppt = compound(
    "ppt", ["ppt", "pps", "pot"], "application/vnd.ms-powerpoint", "P\0o\0w\0e\0r\0P\0o\0i\0n\0t\0")

  /// An Outlook message. The identifying stream name follows other properties, so files are examined for it only if
  /// their name suggests it.
  public static let msg = compound(
    "msg", ["msg"], "application/vnd.ms-outlook", "_\0_\0p\0r\0o\0p\0e\0r\0t\0i\0e\0s\0")
  /// A message as it is sent (RFC 5322). `head` is that of messages made here; others start with any header field.
  public static let eml = Format(
    "eml", extensions: ["eml"], mimeType: "message/rfc822", family: .mail,
    head: Array("MIME-Version: 1.0\nContent-Type: ".utf8))

  public static let texts = [docx, doc, odt, rtf]
  public static let workbooks = [xlsx, xls, ods]
  public static let slides = [pptx, ppt, odp]
  /// Formats that require an office suite.
  public static let laidOut = texts + workbooks + slides

  /// Formats whose text can be extracted.
  public static let office: [Format] = [docx, pptx, xlsx, odt, odp, ods, epub, rtf]

  private static let zip: [UInt8] = [0x50, 0x4b, 3, 4]
  /// The offset of the first entry's name in a ZIP archive. If the entry is stored, its bytes follow the name.
  private static let typeOffset = 30

  /// Returns a format identified by a stream name. In small files the names are in one of the first sectors; in others
  /// their position is unknown.
  private static func compound(
    _ name: String, _ extensions: [FileExtension], _ type: String, _ stream: StaticString
  ) -> Format {
    Format(name, extensions: extensions, mimeType: type, family: .officeDocument, head: compoundFile) {
      $0.starts(with: compoundFile) && $0.contains(run: stream)
    }
  }

  private static let compoundFile: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

  /// Returns an Office Open XML format. The archive starts with a list of its parts' types. In most files, other parts
  /// follow within the first bytes.
  private static func openXML(
    _ name: String, _ extensions: [FileExtension], _ type: String, _ folder: StaticString
  ) -> Format {
    Format(
      name, extensions: extensions, mimeType: "application/vnd.openxmlformats-officedocument.\(type)",
      family: .officeDocument, head: zip
    ) { $0.starts(with: zip) && $0.contains(run: "[Content_Types].xml") && $0.contains(run: folder) }
  }

  /// Returns an OpenDocument format. The archive starts with its uncompressed type.
  private static func openDocument(_ name: String, _ extensions: [FileExtension], _ type: String) -> Format {
    let mark = Array("mimetypeapplication/vnd.oasis.opendocument.\(type)".utf8)
    return Format(
      name, extensions: extensions, mimeType: "application/vnd.oasis.opendocument.\(type)", family: .officeDocument,
      head: zip
    ) { $0.starts(with: zip) && $0.dropFirst(typeOffset).starts(with: mark) }
  }
}

/// Formats of images, in the order in which they are recognized.
extension Format {
  public static let jpeg = Format(
    "jpeg", otherNames: ["jpg"], extensions: ["jpg", "jpeg", "jpe"], mimeType: "image/jpeg", family: .image,
    head: [0xff, 0xd8, 0xff])
  public static let png = Format(
    "png", extensions: ["png"], mimeType: "image/png", family: .image,
    head: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  /// An animated PNG.
  public static let apng = Format(
    "apng", extensions: ["apng"], mimeType: "image/apng", family: .image
  ) { $0.starts(with: png.head) && $0.contains(run: "acTL") }
  public static let webp = Format(
    "webp", extensions: ["webp"], mimeType: "image/webp", family: .image, head: Array("RIFF\0\0\0\0WEBP".utf8)
  ) { $0.has("RIFF", at: 0) && $0.has("WEBP", at: 8) }
  /// TIFF and BigTIFF, in either byte order.
  public static let tiff = Format(
    "tiff", otherNames: ["tif"], extensions: ["tif", "tiff"], mimeType: "image/tiff", family: .image,
    head: [0x49, 0x49, 0x2a, 0x00]
  ) { head in
    [[0x49, 0x49, 0x2a, 0x00], [0x4d, 0x4d, 0x00, 0x2a], [0x49, 0x49, 0x2b, 0x00], [0x4d, 0x4d, 0x00, 0x2b]]
      .contains { head.starts(with: $0) }
  }
  public static let gif = Format(
    "gif", extensions: ["gif"], mimeType: "image/gif", family: .image, head: Array("GIF8".utf8))
  public static let heic = Format(
    "heic", otherNames: ["heif"], extensions: ["heic", "heif"], mimeType: "image/heic", otherMimeTypes: ["image/heif"],
    family: .image,
    head: Array("\0\0\0\u{18}ftypheic".utf8)
  ) { isBranded($0, ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]) }
  public static let avif = Format(
    "avif", extensions: ["avif"], mimeType: "image/avif", family: .image, head: Array("\0\0\0\u{18}ftypavif".utf8)
  ) { isBranded($0, ["avif", "avis"]) }
  /// JPEG 2000, as a file and as a codestream.
  public static let jp2 = Format(
    "jp2", extensions: ["jp2", "j2k"], mimeType: "image/jp2", otherMimeTypes: ["image/x-jp2-codestream"],
    family: .image,
    head: [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20]
  ) { $0.starts(with: [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20]) || $0.starts(with: [0xff, 0x4f, 0xff, 0x51]) }
  public static let bmp = Format(
    "bmp", extensions: ["bmp", "dib"], mimeType: "image/bmp", family: .image, head: Array("BM".utf8)
  ) { head in
    // Files without the file header start with the size of the next header. One plane and the bits per pixel follow.
    let bytes = Array(head.prefix(20))
    guard !bytes.starts(with: "BM".utf8) else { return true }
    guard bytes.count == 20, [12, 40, 52, 56, 64, 108, 124].contains(bytes[0]), bytes[1...3].allSatisfy({ $0 == 0 })
    else { return false }
    let planes = bytes[0] == 12 ? 8 : 12
    return bytes[planes] == 1 && bytes[planes + 1] == 0 && [1, 4, 8, 16, 24, 32].contains(bytes[planes + 2])
      && bytes[planes + 3] == 0 && (bytes[0] == 12 || bytes[16] <= 6 && bytes[17...19].allSatisfy { $0 == 0 })
  }
  public static let exr = Format(
    "exr", extensions: ["exr"], mimeType: "image/x-exr", family: .image, head: [0x76, 0x2f, 0x31, 0x01])
  public static let svg = Format(
    "svg", extensions: ["svg"], mimeType: "image/svg+xml", family: .image
  ) { head in
    (head.first == 0x3c || head.starts(with: [0xef, 0xbb, 0xbf, 0x3c])) && head.contains(run: "<svg")
  }
  /// Raw photos. The signatures are those of Fuji, Olympus, Panasonic and Canon; most others start like TIFF.
  public static let rawPhoto = Format(
    "raw", extensions: ["dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw"],
    mimeType: "image/x-dcraw",
    otherMimeTypes: [
      "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-nikon-nef", "image/x-sony-arw",
      "image/x-olympus-orf", "image/x-panasonic-rw2", "image/x-fuji-raf", "image/x-pentax-pef", "image/x-samsung-srw",
    ], family: .rawPhoto
  ) { head in
    ["FUJIFILMCCD-RAW ", "IIRO", "IIRS", "MMOR", "IIU\0"].contains { head.starts(with: $0.utf8) }
      || isBranded(head, ["crx "])
  }

  /// All image formats.
  public static let images: [Format] =
    [.jpeg, .apng, .png, .gif, .bmp, .tiff, .jp2, .exr, .rawPhoto, .webp, .heic, .avif] + rasters + [.svg]

  /// The formats that the program ffimage reads.
  static let commonImages: [Format] = [
    .jpeg, .apng, .png, .gif, .bmp, .tiff, .jp2, .rawPhoto, .webp, .heic, .avif, .pbm, .pgm, .ppm, .pnm,
  ]

  /// Formats that browsers and common viewers do not show.
  public static let seldomShown: [Format] = [
    .heic, .tiff, .jp2, .exr, .pbm, .pgm, .ppm, .pnm, .pam, .pfm, .rawPhoto, .jxl, .psd, .tga, .pcx, .dds, .sgi,
    .sunRaster, .xwd, .hdr, .qoi, .fits, .icns,
  ]

  /// Returns whether the file is an ISO base media file with one of these major brands.
  private static func isBranded(_ head: ArraySlice<UInt8>, _ brands: Set<String>) -> Bool {
    head.has("ftyp", at: 4) && brands.contains(String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self))
  }
}
