/// File extensions and names by MIME type.
enum FileTypes {
  /// Returns the usual extension. If none is known, returns `txt` for text and `bin` otherwise.
  static func fileExtension(of contentType: String) -> String {
    if let known = extensions[contentType] { return known }
    return contentType.hasPrefix("text/") ? "txt" : "bin"
  }

  /// Returns the name of a part without one, such as `image.png`, `message.eml` or `part-3.html`.
  static func fallbackName(_ contentType: String, index: Int) -> String {
    let tail = fileExtension(of: contentType)
    switch contentType.prefix(while: { $0 != "/" }) {
    case "image", "audio", "video": return "\(contentType.prefix(5)).\(tail)"
    case "message" where tail == "eml": return "message.eml"
    case "text" where tail == "ics": return "invite.ics"
    default: return "part-\(index).\(tail)"
    }
  }

  private static let extensions: [String: String] = [
    "application/gzip": "gz", "application/ics": "ics", "application/javascript": "js", "application/json": "json",
    "application/ms-tnef": "dat", "application/msword": "doc", "application/pdf": "pdf", "application/pgp-keys": "asc",
    "application/pgp-signature": "asc", "application/pkcs7-mime": "p7m", "application/pkcs7-signature": "p7s",
    "application/postscript": "ps", "application/rtf": "rtf", "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt", "application/vnd.ms-tnef": "dat",
    "application/vnd.oasis.opendocument.spreadsheet": "ods", "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/x-pkcs7-mime": "p7m", "application/x-pkcs7-signature": "p7s", "application/x-tar": "tar",
    "application/x-zip-compressed": "zip", "application/xhtml+xml": "xhtml", "application/xml": "xml",
    "application/zip": "zip", "audio/basic": "au", "audio/mp4": "m4a", "audio/mpeg": "mp3", "audio/ogg": "ogg",
    "audio/wav": "wav", "audio/x-wav": "wav", "image/bmp": "bmp", "image/gif": "gif", "image/heic": "heic",
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/pjpeg": "jpg", "image/png": "png", "image/svg+xml": "svg",
    "image/tiff": "tiff", "image/webp": "webp", "image/x-icon": "ico", "message/delivery-status": "txt",
    "message/disposition-notification": "txt", "message/global": "eml", "message/rfc822": "eml",
    "text/calendar": "ics", "text/css": "css", "text/csv": "csv", "text/enriched": "txt", "text/html": "html",
    "text/markdown": "md", "text/plain": "txt", "text/rfc822-headers": "txt", "text/richtext": "txt", "text/rtf": "rtf",
    "text/vcard": "vcf", "text/x-vcard": "vcf", "text/xml": "xml", "video/mp4": "mp4", "video/mpeg": "mpg",
    "video/quicktime": "mov", "video/x-msvideo": "avi",
  ]
}
