internal import Bytes
internal import Catalogue
internal import WorkerKit

/// A Windows icon with one image, as a PNG.
struct IconFile: ImageEncoder {
  /// The maximum side that the format can represent, in pixels.
  private static let longestSide = 256

  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    var image = image
    if max(image.width, image.height) > IconFile.longestSide {
      image = try image.applying(
        "thumbnail_image",
        ["width": "\(IconFile.longestSide)", "height": "\(IconFile.longestSide)", "size": "down"])
    }
    let file = try ImageFile.png().bytes(of: image)
    let start: [UInt8] = [0, 0, 1, 0, 1, 0]
    // 0 stands for 256.
    let entry: [UInt8] = [UInt8(image.width & 255), UInt8(image.height & 255), 0, 0, 1, 0, 32, 0]
    let place = start.count + entry.count + 8
    return start + entry + [UInt8](littleEndian: file.count, count: 4) + [UInt8](littleEndian: place, count: 4) + file
  }
}
