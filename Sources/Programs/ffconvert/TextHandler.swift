internal import Catalogue
internal import Documents
internal import Rendering
internal import WorkerKit

/// Extracts the text of PDFs.
struct TextHandler: JobHandler {
  static let verbs = [Conversion.text.verb]

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    return try ReadDocument.open(input, among: order.job.passwords).write(to: output)
  }
}
