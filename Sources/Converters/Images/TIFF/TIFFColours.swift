internal import CTiff
internal import CVips
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A TIFF page in YCbCr (TIFF 6.0, section 21), which libvips mistakes for RGB. libtiff applies the page's own
/// coefficients and subsampling.
struct TIFFColours {
  private let stream: InputStream
  private let orientation: Int

  /// The maximum number of pixels, of four bytes each, all in memory.
  private static let mostPixels = 1 << 27

  init(_ input: JobInput, _ patches: [InputStream.Patch], orientation: Int) {
    stream = InputStream(input, patches)
    self.orientation = orientation
  }

  /// Returns the page, with everything except the pixels taken from `header`.
  func picture(like header: VipsPicture) throws(JobFailure) -> VipsPicture {
    defer { withExtendedLifetime(stream) {} }
    return try unsafe picture(of: opened(), header.width, header.height).inserted(over: header)
  }

  /// Returns only the pixels of the page, upright. For a page that libvips cannot open.
  func picture() throws(JobFailure) -> VipsPicture {
    defer { withExtendedLifetime(stream) {} }
    let file = try unsafe opened()
    var image = unsafe TIFFRGBAImage()
    var words = [CChar](repeating: 0, count: 1024)
    guard unsafe TIFFRGBAImageBegin(&image, file, 1, &words) != 0 else {
      unsafe TIFFClose(file)
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    let (width, height) = unsafe (Int(image.width), Int(image.height))
    unsafe TIFFRGBAImageEnd(&image)
    return try unsafe picture(of: file, width, height)
  }

  private func opened() throws(JobFailure) -> OpaquePointer {
    guard let file = unsafe stream.openedTIFF() else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    return unsafe file
  }

  /// Reads the pixels and closes the file.
  private func picture(of file: OpaquePointer, _ width: Int, _ height: Int) throws(JobFailure) -> VipsPicture {
    defer { unsafe TIFFClose(file) }
    guard width > 0, height > 0, width <= TIFFColours.mostPixels / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for its kind")
    }
    var pixels = [UInt32](repeating: 0, count: width * height)
    // Rows are read as stored: libvips rotates them.
    guard unsafe TIFFReadRGBAImageOriented(file, UInt32(width), UInt32(height), &pixels, Int32(orientation), 1) != 0
    else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    return try unsafe VipsPicture(copying: pixels.span.bytes, width: width, height: height, bands: 4)
      .applying("extract_band", ["band": "0", "n": "3"])
  }
}

extension VipsPicture {
  /// Returns this picture with everything except the pixels taken from another picture of the same size. No pixel of
  /// that picture is read.
  func inserted(over header: VipsPicture) throws(JobFailure) -> VipsPicture {
    var call = try VipsCall("insert")
    call.set("main", header)
    call.set("sub", self)
    call.set("x", 0)
    call.set("y", 0)
    return try call.result()
  }
}

extension InputStream {
  /// Opens the file with libtiff. The caller closes it while this object lives. Returns `nil` if it is not a TIFF file.
  func openedTIFF() -> OpaquePointer? {
    let user = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe TIFFClientOpen(
      "input", "rm", user,
      { user, buffer, count in
        unsafe InputStream.stream(of: user)?.read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))) ?? -1
      }, { _, _, _ in -1 },
      { user, offset, origin in
        let place = unsafe InputStream.stream(of: user)?.seek(Int(truncatingIfNeeded: offset), origin) ?? -1
        return UInt64(bitPattern: place)
      }, { _ in 0 }, { user in unsafe UInt64(InputStream.stream(of: user)?.count ?? 0) }, nil, nil)
  }
}
