internal import Bytes
internal import CCommonMark
internal import Catalogue
internal import Glibc
public import WorkerKit

/// A text in GitHub's Markdown: CommonMark with tables, strikethrough, bare links, task lists and footnotes.
///
/// It is converted to a web page, which is read like any other. HTML in it is supported to the same extent.
public struct MarkdownDocument {
  private let input: JobInput

  /// The maximum size of the text, in bytes.
  private static let largest = 32 << 20
  /// The limits of the page's size: a multiple of the text's size, plus a number of bytes. A definition can be
  /// referenced many times.
  private static let mostGrowth = 16
  private static let leastPage = 1 << 20
  private static let extensions = ["table", "strikethrough", "autolink", "tasklist"]

  public init(_ input: JobInput) { self.input = input }

  /// Writes the text in an output format. Returns false if there is none of that name.
  public func write(as name: String, to output: JobOutput) throws(JobFailure) -> Bool {
    guard let form = DocumentForm(rawValue: name) else { return false }
    guard input.count <= Self.largest else { throw JobFailure(.limit, "is larger than \(Self.largest >> 20) MiB") }
    let bytes = withExtendedLifetime(input) { unsafe Array(input.bytes) }
    let page = try page(of: Self.body(DecodedText.utf8(bytes, declared: nil)))
    let writer = try form.writer(to: DocumentTextOutput(output), title: "") { _ in nil }
    let reader = try MarkupReader(ByteArraySource(page), .html)
    try WebText(reader, into: writer, isNote: true) { $0.hasPrefix("data:") ? nil : $0 }.read()
    try writer.finish()
    return true
  }

  /// Returns the text without its metadata, which is lines between `---` at the start.
  static func body(_ text: [UInt8]) -> ArraySlice<UInt8> {
    let lines = text.prefix(64 << 10).split(separator: 0x0a, omittingEmptySubsequences: false).map { line in
      line.last == 0x0d ? line.dropLast() : line
    }
    // Metadata has a line directly after the mark. Otherwise the mark is a horizontal rule.
    guard lines.count > 2, lines[0].elementsEqual("---".utf8), !lines[1].isEmpty,
      let end = lines.dropFirst().first(where: { $0.elementsEqual("---".utf8) || $0.elementsEqual("...".utf8) })
    else { return text[...] }
    return text[end.endIndex...].drop { $0 == 0x0d }.dropFirst()
  }

  private func page(of text: ArraySlice<UInt8>) throws(JobFailure) -> [UInt8] {
    cmark_gfm_core_extensions_ensure_registered()
    let options = CMARK_OPT_FOOTNOTES | CMARK_OPT_UNSAFE | CMARK_OPT_VALIDATE_UTF8
    guard let parser = unsafe cmark_parser_new(options) else { throw .noMemory() }
    defer { unsafe cmark_parser_free(parser) }
    for name in Self.extensions {
      if let found = unsafe cmark_find_syntax_extension(name) {
        _ = unsafe cmark_parser_attach_syntax_extension(parser, found)
      }
    }
    unsafe text.withUnsafeBytes { bytes in
      unsafe cmark_parser_feed(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard let root = unsafe cmark_parser_finish(parser) else { throw .noMemory() }
    defer { unsafe cmark_node_free(root) }
    guard let page = unsafe cmark_render_html(root, options, cmark_parser_get_syntax_extensions(parser)) else {
      throw .noMemory()
    }
    defer { unsafe free(page) }
    let count = unsafe strlen(page)
    guard count <= text.count * Self.mostGrowth + Self.leastPage else {
      throw JobFailure(.limit, "grows to \(count) bytes as a page")
    }
    return unsafe Array(UnsafeRawBufferPointer(start: page, count: count))
  }
}
