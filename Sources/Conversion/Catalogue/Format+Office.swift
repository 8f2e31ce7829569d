internal import Bytes

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
