internal import Catalogue
internal import Documents
internal import Images
internal import WorkerKit

/// Makes PDFs smaller.
struct CompressionHandler: JobHandler {
  static let verbs = [Conversion.compressed.verb]

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ CompressionChanges($0[...]) }) else { throw .unknown }
    let document = CompressedDocument(
      try order.input(), order.job.passwords, resolution: changes.resolution, quality: changes.quality, VipsLibrary())
    return try document.write(to: output) ?? ""
  }
}
