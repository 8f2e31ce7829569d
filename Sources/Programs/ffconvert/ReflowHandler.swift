internal import Catalogue
internal import Documents
internal import Rendering
internal import WorkerKit

/// Converts PDFs to web pages.
struct ReflowHandler: JobHandler {
  static let verbs = [Conversion.reflowed.verb]

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    let passwords = order.job.passwords
    let document = try ReflowedDocument(
      ReadDocument.open(input, among: passwords), RenderedDocument.open(input, among: passwords))
    return try document.write(to: output)
  }
}
