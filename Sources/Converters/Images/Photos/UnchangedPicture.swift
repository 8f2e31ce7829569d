internal import Catalogue
internal import WorkerKit

/// A JPEG that already is the requested result. Encoding it again would lose quality.
struct UnchangedPicture {
  let bytes: [UInt8]
  /// The end of a sentence that starts with the file's name, or an empty string.
  let remark: String

  /// Returns `nil` if the file has no such picture, or changes are requested.
  init?(_ input: JobInput, to format: ImageFormat, _ changes: ImageChanges) throws(JobFailure) {
    guard format == .jpeg else { return nil }
    var others = changes
    others.thousands = nil
    guard others == ImageChanges() else { return nil }
    if let thousands = changes.thousands {
      guard input.starts(with: [0xFF, 0xD8, 0xFF]), input.count <= 1000 * thousands else { return nil }
      (bytes, remark) = unsafe (Array(input.bytes), "is small enough as it is")
    } else if let preview = try RawPhoto.preview(of: input, TIFFFile(input), changes) {
      (bytes, remark) = (preview, "is the preview that the camera has added, as it is")
    } else {
      return nil
    }
  }
}
