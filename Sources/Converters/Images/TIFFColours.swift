internal import CTiff
internal import CVips
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A TIFF page in YCbCr (TIFF 6.0, section 21), which libvips takes for RGB; libtiff applies the page's own
/// coefficients and subsampling.
struct TIFFColours {
  private let stream: InputStream
  private let orientation: Int

  /// Four bytes each, all in memory.
  private static let mostPixels = 1 << 27

  init(_ input: JobInput, _ patches: [InputStream.Patch], orientation: Int) {
    stream = InputStream(input, patches)
    self.orientation = orientation
  }

  /// The page, with everything but the pixels taken from `header`.
  func picture(like header: VipsPicture) throws(JobFailure) -> VipsPicture {
    let (width, height) = (header.width, header.height)
    guard width <= TIFFColours.mostPixels / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for its kind")
    }
    let user = unsafe Unmanaged.passUnretained(stream).toOpaque()
    defer { withExtendedLifetime(stream) {} }
    let file = unsafe TIFFClientOpen(
      "input", "rm", user,
      { user, buffer, count in
        unsafe InputStream.stream(of: user)?.read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))) ?? -1
      }, { _, _, _ in -1 },
      { user, offset, origin in
        let place = unsafe InputStream.stream(of: user)?.seek(Int(truncatingIfNeeded: offset), origin) ?? -1
        return UInt64(bitPattern: place)
      }, { _ in 0 }, { user in unsafe UInt64(InputStream.stream(of: user)?.count ?? 0) }, nil, nil)
    guard let file = unsafe file else { throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError()) }
    defer { unsafe TIFFClose(file) }
    var pixels = [UInt32](repeating: 0, count: width * height)
    // Rows as stored: libvips rotates them.
    guard unsafe TIFFReadRGBAImageOriented(file, UInt32(width), UInt32(height), &pixels, Int32(orientation), 1) != 0
    else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    let colours = try unsafe VipsPicture(copying: pixels.span.bytes, width: width, height: height, bands: 4)
      .applying("extract_band", ["band": "0", "n": "3"])
    // Covered completely, so that no pixel of `header` is read.
    var call = try VipsCall("insert")
    call.set("main", header)
    call.set("sub", colours)
    call.set("x", 0)
    call.set("y", 0)
    return try call.result()
  }
}
