internal import Catalogue
internal import Documents
internal import Images
internal import WorkerKit

extension PicturePages {
  /// Adds all images of a file, each as a page.
  func addAll(of input: JobInput, _ changes: ImageChanges = ImageChanges()) throws(JobFailure) {
    try PageImage.forEach(of: input, changes) { (image) throws(JobFailure) in
      if let data = image.data {
        try unsafe add(image.form, data.span.bytes)
      } else {
        try unsafe add(image.form, input.bytes.bytes)
      }
    }
  }
}
