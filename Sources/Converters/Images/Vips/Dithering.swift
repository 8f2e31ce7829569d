internal import CVips
internal import Catalogue
internal import WorkerKit

extension VipsPicture {
  /// Returns black and white pixels, 0 and 255, with the same overall brightness as the gray of this image. Each
  /// pixel's error is distributed to its neighbours on the right and below, by Floyd and Steinberg's weights.
  func inBlackAndWhite() throws(JobFailure) -> VipsPicture {
    let gray = try applying("colourspace", ["space": "b-w"])
    guard gray.bands == 1, gray.isByte, width * height <= ImageSource.mostPixels.whole else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for black and white")
    }
    var count = 0
    guard let memory = unsafe vips_image_write_to_memory(gray.pointer, &count) else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    defer { unsafe g_free(memory) }
    let (width, height) = (width, height)
    let pixels = unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
    // The errors for this row and the next, in sixteenths, with one more element at either end.
    var errors = [[Int]](repeating: [Int](repeating: 0, count: width + 2), count: 2)
    for y in 0..<height {
      for x in 0..<width {
        let wanted = unsafe 16 * Int(pixels[y * width + x]) + errors[0][x + 1]
        let isWhite = wanted >= 16 * 128
        unsafe pixels[y * width + x] = isWhite ? 255 : 0
        let error = (wanted - (isWhite ? 16 * 255 : 0)) / 16
        errors[0][x + 2] += 7 * error
        errors[1][x] += 3 * error
        errors[1][x + 1] += 5 * error
        errors[1][x + 2] += error
      }
      errors.swapAt(0, 1)
      errors[1] = [Int](repeating: 0, count: width + 2)
    }
    return try unsafe VipsPicture(
      copying: UnsafeRawBufferPointer(pixels).bytes, width: width, height: height, bands: 1)
  }
}
