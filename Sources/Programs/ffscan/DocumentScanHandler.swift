internal import Catalogue
internal import Documents
internal import Images
internal import Recognition
internal import WorkerKit

/// Makes one clean document with a text layer from photos or a scan.
struct DocumentScanHandler: JobHandler {
  static let verbs = [Conversion.scannedDocument.verb, Conversion.scannedFolder.verb]
  private let recognizer: Recognizer

  init(_ recognizer: Recognizer) { self.recognizer = recognizer }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ DocumentScanChanges($0[...]) }) else { throw .unknown }
    var remark = ""
    try PicturePages.write(to: output) { (pages) throws(JobFailure) in
      func add(_ photo: CleanedPhoto) throws(JobFailure) {
        remark = remark.isEmpty ? photo.remark : remark
        try pages.add(photo.image(changes.rest), text: text(of: photo, changes.languages, &remark))
      }
      if recipe.verb == Conversion.scannedFolder.verb {
        try order.forEachMember { (name, open) throws(JobFailure) in
          do throws(JobFailure) { try forEachPhoto(in: open(), changes.filter, add) } catch {
            throw error.about(name)
          }
        }
      } else if try order.input().isPDF {
        try PagedInput(order.input(), order.job.passwords).forEachPage { (_, page) throws(JobFailure) in
          try add(CleanedPhoto(whole: page(), changes.filter, recognizer))
        }
      } else {
        try forEachPhoto(in: order.input(), changes.filter, add)
      }
    }
    return remark
  }

  private func forEachPhoto(
    in input: JobInput, _ filter: ScanFilter, _ body: (CleanedPhoto) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try PagePixels.forEach(of: input) { (photo) throws(JobFailure) in
      try body(CleanedPhoto(photo, filter, recognizer))
    }
  }

  /// Returns the recognized text. Returns no text, and sets a remark, if a language's data is not installed.
  private func text(
    of photo: CleanedPhoto, _ languages: ReadingLanguages, _ remark: inout String
  ) throws(JobFailure) -> [LayerLine] {
    do throws(JobFailure) {
      return try recognizer.recognize(photo.samples, density: photo.density, in: languages).layer
    } catch {
      guard error.failure == .unsupported else { throw error }
      remark = "has pages without text: it \(error.reason)"
      return []
    }
  }
}
