internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A search for a representative picture of a video: neither dark nor blurred, from its first third.
enum TellingPicture {
  private static let candidates = 12
  /// The maximum side of the pictures that are compared, in pixels.
  private static let side = 160.0

  static func find(_ reader: PictureReader) throws(JobFailure) -> MediaFrame? {
    let length = reader.duration
    var best: (picture: MediaFrame, worth: Double)?
    var seen: Set<Int64> = []
    for candidate in 0..<candidates {
      let share = 0.03 + 0.3 * Double(candidate) / Double(candidates)
      guard let picture = try reader.picture(at: length * share, isAnyNear: true) else { continue }
      // In a video with few key frames, the same picture is found again.
      guard seen.insert(unsafe picture.pointer.pointee.pts).inserted else { continue }
      let small = try StillPicture.shaped(picture, reader.stream, of: reader.input, gray) {
        min(1, side / max($0.0, $0.1))
      }
      let worth = worth(of: small)
      if worth > best?.worth ?? -1 { best = (picture, worth) }
      if length <= 0 { break }
    }
    return best?.picture
  }

  private static let gray = PictureCoding(encoder: "", pixelFormat: "gray", block: 1)

  /// Returns the sharpness of a picture, reduced if it is mostly dark or white.
  private static func worth(of picture: MediaFrame) -> Double {
    let width = Int(unsafe picture.pointer.pointee.width)
    let height = Int(unsafe picture.pointer.pointee.height)
    let stride = Int(unsafe picture.pointer.pointee.linesize.0)
    guard width > 2, height > 2, let pixels = unsafe picture.pointer.pointee.data.0 else { return 0 }
    var sum = 0
    var edges = 0.0
    for y in 1..<height - 1 {
      for x in 1..<width - 1 {
        let place = y * stride + x
        let value = Int(unsafe pixels[place])
        let around =
          unsafe Int(pixels[place - 1]) + Int(pixels[place + 1]) + Int(pixels[place - stride])
          + Int(pixels[place + stride])
        sum += value
        edges += Double((4 * value - around) * (4 * value - around))
      }
    }
    let count = Double((width - 2) * (height - 2))
    let mean = Double(sum) / count
    let light = max(0.02, min(1, (mean - 16) / 50, (245 - mean) / 40))
    return light * (edges / count).squareRoot()
  }
}
