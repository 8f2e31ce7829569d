internal import Catalogue
internal import Documents
internal import Images
internal import Recognition
internal import WorkerKit

/// Makes clean pages from photos, and counts the pages in them.
struct ScanHandler: JobHandler {
  static let verbs = formats.keys.sorted()
  private static let formats: [String: ImageFormat] = ["scan-jpeg": .jpeg, "scan-png": .png, "scan-pdf": .pdf]

  private let recognizer: Recognizer

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let format = Self.formats[recipe.verb], let changes = recipe.arguments.flatMap({ ScanChanges($0[...]) })
    else {
      throw .unknown
    }
    let photo = try CleanedPhoto(
      PagePixels(firstOf: order.input()), changes.filter, page: changes.page, recognizer)
    if format == .pdf {
      let image = try photo.image(changes.rest)
      try PicturePages.write(to: output) { (pages) throws(JobFailure) in try pages.add(image) }
    } else {
      try photo.write(as: format, changes.rest, to: output)
    }
    return photo.remark
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .count = order.job.work else { throw .unknown }
    return try .done(Int64(CleanedPhoto.count(in: PagePixels(firstOf: order.input()))))
  }
}

extension PicturePages {
  /// Adds a page whose data is not that of its input.
  func add(_ image: PageImage, text: [LayerLine] = []) throws(JobFailure) {
    let data = image.data ?? []
    try unsafe add(image.form, data.span.bytes, text: text)
  }
}
