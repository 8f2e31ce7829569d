internal import Bytes

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
