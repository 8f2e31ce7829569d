internal import Bytes

/// Formats of texts, sheets, slides and books.
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

  /// As a sheet is written; nothing in its bytes tells it.
  public static let csv = Format("csv", extensions: ["csv"], mimeType: "text/csv", family: .table)

  /// As they were before 2007: files of the Compound File Binary Format, which do not start with what they are.
  public static let doc = compound("doc", ["doc", "dot"], "application/msword", "W\0o\0r\0d\0D\0o\0c\0")
  public static let xls = compound("xls", ["xls", "xlt"], "application/vnd.ms-excel", "W\0o\0r\0k\0b\0o\0o\0k\0")
  public static let ppt = compound(
    "ppt", ["ppt", "pps", "pot"], "application/vnd.ms-powerpoint", "P\0o\0w\0e\0r\0P\0o\0i\0n\0t\0")

  /// One message of Outlook's. It says so behind its other properties, where nobody looks without its name.
  public static let msg = compound(
    "msg", ["msg"], "application/vnd.ms-outlook", "_\0_\0p\0r\0o\0p\0e\0r\0t\0i\0e\0s\0")
  /// A message as it is sent (RFC 5322). Its head is that of a message made here; others start with any field.
  public static let eml = Format(
    "eml", extensions: ["eml"], mimeType: "message/rfc822", family: .mail,
    head: Array("MIME-Version: 1.0\nContent-Type: ".utf8))

  public static let texts = [docx, doc, odt, rtf]
  public static let workbooks = [xlsx, xls, ods]
  public static let slides = [pptx, ppt, odp]
  /// Those that an office suite is needed for.
  public static let laidOut = texts + workbooks + slides

  /// Those whose text is read.
  public static let office: [Format] = [docx, pptx, xlsx, odt, odp, ods, epub, rtf]

  private static let zip: [UInt8] = [0x50, 0x4b, 3, 4]
  /// Where the name of a ZIP's first entry starts, and its bytes behind that.
  private static let typeOffset = 30

  /// The names of its streams are in one of the first sectors if the file is small, or nobody knows where.
  private static func compound(
    _ name: String, _ extensions: [FileExtension], _ type: String, _ stream: StaticString
  ) -> Format {
    Format(name, extensions: extensions, mimeType: type, family: .officeDocument, head: compoundFile) {
      $0.starts(with: compoundFile) && $0.contains(run: stream)
    }
  }

  private static let compoundFile: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

  /// Its archive starts with a list of its parts' types, and other parts follow within the first bytes of most.
  private static func openXML(
    _ name: String, _ extensions: [FileExtension], _ type: String, _ folder: StaticString
  ) -> Format {
    Format(
      name, extensions: extensions, mimeType: "application/vnd.openxmlformats-officedocument.\(type)",
      family: .officeDocument, head: zip
    ) { $0.starts(with: zip) && $0.contains(run: "[Content_Types].xml") && $0.contains(run: folder) }
  }

  /// Its archive starts with its type, as it is.
  private static func openDocument(_ name: String, _ extensions: [FileExtension], _ type: String) -> Format {
    let mark = Array("mimetypeapplication/vnd.oasis.opendocument.\(type)".utf8)
    return Format(
      name, extensions: extensions, mimeType: "application/vnd.oasis.opendocument.\(type)", family: .officeDocument,
      head: zip
    ) { $0.starts(with: zip) && $0.dropFirst(typeOffset).starts(with: mark) }
  }
}
