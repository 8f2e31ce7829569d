internal import CPoppler
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An opaque picture in memory, with one byte each for red, green and blue.
@safe public final class Raster {
  public let width: Int
  public let height: Int
  /// The density, in pixels per inch.
  public let density: Double
  /// The pixels: four bytes each in cairo's format, and three bytes each after painting.
  private let pixels: UnsafeMutableRawPointer

  /// The maximum number of pixels.
  public static let mostPixels = 100_000_000
  /// The maximum side, in pixels. This is cairo's limit.
  public static let longestSide = 32767

  init(width: Double, height: Double, density: Double) throws(JobFailure) {
    guard max(width, height) <= Double(Raster.longestSide), width * height <= Double(Raster.mostPixels),
      let pixels = unsafe calloc(Int(width) * Int(height), 4)
    else {
      throw JobFailure(.limit, "has a page that would be \(width) × \(height) pixels, which is too much")
    }
    self.width = Int(width)
    self.height = Int(height)
    self.density = density
    unsafe self.pixels = pixels
  }

  deinit { unsafe free(pixels) }

  /// The pixels, three bytes each, without gaps.
  public var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: pixels, count: 3 * width * height)
  }

  /// Whether all pixels are equal.
  var isUniform: Bool { unsafe memcmp(pixels, pixels + 3, 3 * (width * height - 1)) == 0 }

  func paint(_ body: (OpaquePointer) -> Void) throws(JobFailure) {
    let surface = unsafe cairo_image_surface_create_for_data(
      pixels.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_RGB24, Int32(width), Int32(height), Int32(4 * width))
    defer { unsafe cairo_surface_destroy(surface) }
    guard let cairo = unsafe cairo_create(surface) else { throw JobFailure.noMemory() }
    unsafe cairo_set_source_rgb(cairo, 1, 1, 1)
    unsafe cairo_paint(cairo)
    unsafe body(cairo)
    let status = unsafe cairo_status(cairo)
    unsafe cairo_destroy(cairo)
    guard status == CAIRO_STATUS_SUCCESS else {
      throw JobFailure(
        .damaged, "has a page that cannot be painted", saying: unsafe String(cString: cairo_status_to_string(status)))
    }
    unsafe cairo_surface_flush(surface)
    // Converts 0xXXRRGGBB words to bytes in place. The new pixel never starts after the old one.
    let words = unsafe pixels.assumingMemoryBound(to: UInt32.self)
    let bytes = unsafe pixels.assumingMemoryBound(to: UInt8.self)
    for index in 0..<(width * height) {
      let word = unsafe words[index]
      unsafe bytes[3 * index] = UInt8(truncatingIfNeeded: word >> 16)
      unsafe bytes[3 * index + 1] = UInt8(truncatingIfNeeded: word >> 8)
      unsafe bytes[3 * index + 2] = UInt8(truncatingIfNeeded: word)
    }
  }
}
