internal import Catalogue
internal import Documents
internal import Rendering
internal import WorkerKit

/// Makes web pages of PDFs.
struct ReflowHandler: JobHandler {
  static let verbs = [Conversion.reflowed.verb]

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    let password = Passphrase.opening(input, among: order.job.passwords)
    let document = ReflowedDocument(try ReadDocument(input, password), try RenderedDocument(input, password))
    return try document.write(to: output)
  }
}
