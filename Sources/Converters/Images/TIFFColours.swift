internal import CTiff
internal import CVips
internal import Conversion
internal import Glibc
internal import JobFiles

/// A TIFF page whose pixels are brightness and colours apart (TIFF 6.0, section 21): libvips takes them for red, green and
/// blue, libtiff knows the page's own coefficients, and which pixels share a colour.
struct TIFFColours {
  private let stream: InputStream
  private let orientation: Int

  /// Four bytes each, in memory as a whole.
  private static let mostPixels = 1 << 27

  init(_ input: JobInput, _ patches: [InputStream.Patch], orientation: Int) {
    stream = InputStream(input, patches)
    self.orientation = orientation
  }

  /// The page of which `header` has all but the right pixels.
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
    // Rows as they are stored: libvips turns them.
    guard unsafe TIFFReadRGBAImageOriented(file, UInt32(width), UInt32(height), &pixels, Int32(orientation), 1) != 0
    else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    let colours = try unsafe VipsPicture(copying: pixels.span.bytes, width: width, height: height, bands: 4)
      .applying("extract_band", ["band": "0", "n": "3"])
    // All of it is covered, so nothing of its pixels is read.
    var call = try VipsCall("insert")
    call.set("main", header)
    call.set("sub", colours)
    call.set("x", 0)
    call.set("y", 0)
    return try call.result()
  }
}
