import AllViews
import Bytes
import Catalogue
import Tree

/// The media type of a file, by its name.
enum MediaType {
  static let unknown = "application/octet-stream"

  /// Returns the type for a name. Returns `nil` if it is unknown.
  static func of(_ name: FileName) -> String? {
    guard let ending = ending(name) else { return nil }
    if let made = made[ending] { return made }
    if let usual = usual[ending] { return usual }
    if let known = FileName("x." + ending).fileExtension.flatMap({ Catalogue.standard.format(named: $0) }) {
      return known.mimeType
    }
    return SourceLanguage.of(name) == nil ? nil : "text/plain"
  }

  /// Returns the type for a Content-Type header. Text is declared as UTF-8, which most text is. A script is declared as
  /// text: no page here has a use for it, least of all the one that shows the tree.
  static func header(_ name: FileName) -> String {
    let type = of(name) ?? unknown
    if type.hasSuffix("script"), type.hasPrefix("text/") || type.hasPrefix("application/") {
      return type == "application/postscript" ? type : "text/plain; charset=utf-8"
    }
    return type.hasPrefix("text/") ? type + "; charset=utf-8" : type
  }

  /// Returns whether a browser may run the contents.
  static func isActive(_ type: String) -> Bool {
    ["text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "application/xslt+xml"]
      .contains(type) || type.hasSuffix("+xml")
  }

  /// Returns whether files of this type are certain to be compressed already.
  static func isPacked(_ type: String) -> Bool {
    if type.hasPrefix("video/") || type.hasPrefix("application/vnd.openxmlformats-officedocument")
      || type.hasPrefix("application/vnd.oasis.opendocument") || type.hasPrefix("application/x-rar")
    {
      return true
    }
    return packed.contains(type)
  }

  private static let packed: Set = [
    "application/zip", "application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd",
    "application/x-7z-compressed", "application/vnd.rar", "application/epub+zip", "application/java-archive",
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif", "image/jxl",
    "image/jp2", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/flac", "font/woff", "font/woff2",
  ]

  /// Returns the extension in lower case, without the dot.
  static func ending(_ name: FileName) -> String? {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > name.bytes.startIndex else { return nil }
    let text = String(decoding: name.bytes[(dot + 1)...], as: UTF8.self).lowercased()
    return text.isEmpty || text.utf8.count > 16 ? nil : text
  }

  /// The types of views, such as `as-jpeg`.
  private static let made = Dictionary(
    Views.mimeTypes.map { ($0.ending, $0.type) }, uniquingKeysWith: { one, _ in one })

  /// The types as browsers name them, which can differ from the catalogue.
  private static let usual = [
    "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "css": "text/css",
    "js": "text/javascript", "mjs": "text/javascript", "json": "application/json", "xml": "application/xml",
    "svg": "image/svg+xml", "txt": "text/plain", "log": "text/plain", "md": "text/markdown",
    "markdown": "text/markdown", "csv": "text/csv", "tsv": "text/tab-separated-values", "ics": "text/calendar",
    "vcf": "text/vcard", "eml": "message/rfc822", "mbox": "application/mbox", "pdf": "application/pdf",
    "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "bz2": "application/x-bzip2",
    "xz": "application/x-xz", "zst": "application/zstd", "tar": "application/x-tar",
    "7z": "application/x-7z-compressed", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon",
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg",
    "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav", "mp4": "video/mp4", "m4v": "video/mp4",
    "webm": "video/webm", "ogv": "video/ogg", "mov": "video/quicktime", "mkv": "video/x-matroska",
    "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "wasm": "application/wasm",
    "epub": "application/epub+zip", "m3u8": "application/vnd.apple.mpegurl",
  ]
}
