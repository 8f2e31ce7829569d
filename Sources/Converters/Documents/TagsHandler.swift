internal import CQpdf
public import Catalogue
public import WorkerKit

/// A handler that lists the tags of PDFs: what their information dictionary says, and their language.
public struct TagsHandler: JobHandler {
  public static let verbs = [Conversion.documentTags.verb]

  public init() {}

  private static let names = [
    ("title", "/Title"), ("author", "/Author"), ("subject", "/Subject"), ("keywords", "/Keywords"),
    ("creator", "/Creator"),
  ]

  public mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let file = try PDFFile(reading: order.input(), order.job.passwords)
    var tags = TagList()
    if let information = file.trailer["/Info"], information.isDictionary {
      for (name, key) in Self.names {
        if let value = information[key]?.words { tags.add(name, value) }
      }
    }
    if let language = file.root["/Lang"]?.words { tags.add("language", language) }
    try unsafe output.write(Array(tags.text.utf8).span.bytes)
    return ""
  }
}

extension PDFObject {
  /// A text string, in whatever encoding it is written (PDF 32000-1, 7.9.2.2).
  fileprivate var words: String? {
    guard unsafe qpdf_oh_is_string(file.pdf, handle) != 0 else { return nil }
    return unsafe qpdf_oh_get_utf8_value(file.pdf, handle).map { unsafe String(cString: $0) }
  }
}
