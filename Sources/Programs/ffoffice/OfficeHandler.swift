internal import Catalogue
internal import Office
internal import WorkerKit

/// Converts office documents to text, web pages and Markdown.
struct OfficeHandler: JobHandler {
  static let verbs = Conversion.office.map(\.verb)
  private let library = OfficeLibrary()

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    switch recipe.verb {
    case Conversion.sheets.verb:
      guard let names = try OfficeDocument(input).sheetNames else { throw JobFailure(.unsupported, "has no sheets") }
      let list = names.map { String($0.map { $0.isNewline ? " " : $0 }) + "\n" }.joined()
      try unsafe output.write(Array(list.utf8).span.bytes)
      return ""
    case Conversion.sheet.verb:
      let selection = recipe.arguments.flatMap { PageSelection($0[...]) }
      guard let number = selection?.runs.first?.first else { throw .unknown }
      try OfficeDocument(input).write(sheet: number - 1, to: output)
      return ""
    case Conversion.message.verb: return try OutlookFile(input).write(to: output)
    default: return try write(recipe.verb.split(separator: "-"), input, to: output)
    }
  }

  /// Writes a document. `verb` consists of the kind of input and the output format.
  private func write(_ verb: [Substring], _ input: JobInput, to output: JobOutput) throws(JobFailure) -> String {
    guard verb.count == 2 else { throw .unknown }
    let (kind, form) = (verb[0], String(verb[1]))
    let isWritten =
      switch kind {
      case "office": try OfficeDocument(input).write(as: form, to: output)
      case "markdown": try MarkdownDocument(input).write(as: form, to: output)
      case "page": try WebDocument(input).write(as: form, to: output)
      default: false
      }
    guard isWritten else { throw .unknown }
    return ""
  }
}
