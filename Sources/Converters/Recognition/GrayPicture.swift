internal import CLeptonica
internal import Glibc
internal import Pixels
internal import WorkerKit

/// A Leptonica picture with a byte per pixel, from black to white.
@safe final class GrayPicture {
  let pix: UnsafeMutablePointer<Pix>

  var width: Int { unsafe Int(pixGetWidth(pix)) }
  var height: Int { unsafe Int(pixGetHeight(pix)) }

  /// Takes ownership of the result of a Leptonica function. Throws if it is nil, which means that memory is short.
  init(_ pix: UnsafeMutablePointer<Pix>?) throws(JobFailure) {
    guard let pix = unsafe pix else { throw JobFailure.noMemory() }
    unsafe self.pix = pix
  }

  deinit {
    var pix: UnsafeMutablePointer<Pix>? = unsafe self.pix
    unsafe pixDestroy(&pix)
  }

  /// Copies samples of one band, or of red, green and blue.
  convenience init(_ samples: Samples) throws(JobFailure) {
    try unsafe self.init(pixCreate(Int32(samples.width), Int32(samples.height), 8))
    let rowSize = unsafe 4 * Int(pixGetWpl(pix))
    guard let data = unsafe pixGetData(pix).map(UnsafeMutableRawPointer.init) else { throw JobFailure.noMemory() }
    let bands = samples.bands
    unsafe samples.bytes.withUnsafeBytes { source in
      for row in 0..<samples.height {
        let target = unsafe data + row * rowSize
        var at = row * samples.width * bands
        for column in 0..<samples.width {
          // The first pixel is in a word's highest byte.
          unsafe target.advanced(by: column ^ 3).storeBytes(of: GrayPicture.gray(source, at, bands), as: UInt8.self)
          at += bands
        }
      }
    }
  }

  /// Returns the perceived brightness of a pixel.
  @inline(__always)
  private static func gray(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ bands: Int) -> UInt8 {
    if bands < 3 { return unsafe bytes[at] }
    let (red, green, blue) = unsafe (UInt32(bytes[at]), UInt32(bytes[at + 1]), UInt32(bytes[at + 2]))
    return UInt8(truncatingIfNeeded: (77 * red + 150 * green + 29 * blue) >> 8)
  }

  /// Returns the part of a box that is inside the picture, and the position of its left side.
  func part(_ box: Box) throws(JobFailure) -> (part: GrayPicture, left: Int) {
    let (left, top) = (max(0, box.left), max(0, box.top))
    var edges = unsafe boxCreate(
      Int32(left), Int32(top), Int32(min(box.right, width) - left), Int32(min(box.bottom, height) - top))
    defer { unsafe boxDestroy(&edges) }
    return try unsafe (making { [edges] in unsafe pixClipRectangle($0, edges, nil) }, left)
  }

  /// Returns the result of a Leptonica function on this picture.
  func making(
    _ make: (UnsafeMutablePointer<Pix>) -> UnsafeMutablePointer<Pix>?
  ) throws(JobFailure) -> GrayPicture {
    try unsafe GrayPicture(make(pix))
  }
}
