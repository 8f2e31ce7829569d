internal import CLibRaw
internal import Catalogue
internal import WorkerKit

/// A raw photo to be developed: DNG and camera makers' own formats.
struct RawPhoto {
  private let input: JobInput

  /// The signatures of Canon's CR3, Fuji, Olympus and Panasonic files, which are unambiguous. Other formats are TIFF
  /// files.
  private static let starts: [[UInt8]] = [
    Array("FUJIFILMCCD-RAW ".utf8), Array("IIRO".utf8), Array("IIRS".utf8), Array("MMOR".utf8), Array("IIU\0".utf8),
  ]

  /// Returns `nil` if the file does not declare that it is a raw photo.
  init?(_ input: JobInput, _ tiff: TIFFFile?) {
    let isOwn = unsafe input.bytes.dropFirst(4).starts(with: "ftypcrx ".utf8)
    guard tiff?.isRawPhoto ?? false || isOwn || RawPhoto.starts.contains(where: input.starts) else { return nil }
    self.input = input
  }

  /// Returns the picture that a camera embedded in a raw photo, as a JPEG with its orientation. Returns `nil` if the
  /// file is not a raw photo, has no such picture or one with too few pixels, or other changes are requested.
  static func preview(
    of input: JobInput, _ tiff: TIFFFile?, _ changes: ImageChanges
  ) throws(JobFailure) -> [UInt8]? {
    guard !changes.isDeveloped, let photo = RawPhoto(input, tiff) else { return nil }
    return try unsafe photo.opened { (raw) throws(JobFailure) in
      let sizes = unsafe raw.pointee.sizes
      guard unsafe libraw_unpack_thumb(raw) == LIBRAW_SUCCESS.rawValue else { return nil }
      let thumbnail = unsafe raw.pointee.thumbnail
      guard unsafe thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG, let start = unsafe thumbnail.thumb else { return nil }
      let file = unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(thumbnail.tlength)))
      guard let jpeg = JPEGHead(file) else { return nil }
      let (width, height) = (Int(sizes.width), Int(sizes.height))
      let box = changes.area == nil ? changes.size?.box(width, height) : nil
      let wanted = min(max(width, height), box.map { max($0.width, $0.height) } ?? .max)
      // Cameras omit a few pixels of the edge.
      guard 100 * max(jpeg.width, jpeg.height) >= 95 * wanted else { return nil }
      let isUpright = jpeg.width < jpeg.height && width > height
      let orientation = isUpright ? 1 : [3: 3, 5: 8, 6: 6][sizes.flip] ?? 1
      return jpeg.told(orientation: orientation)
    }
  }

  /// Calls `body` with the file opened by LibRaw.
  private func opened<Result>(
    _ body: (UnsafeMutablePointer<libraw_data_t>) throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result {
    guard let raw = unsafe libraw_init(0) else { throw JobFailure.noMemory() }
    defer { unsafe libraw_close(raw) }
    unsafe raw.pointee.params.use_camera_wb = 1
    unsafe raw.pointee.params.output_color = 1
    unsafe raw.pointee.params.output_bps = 8
    let bytes = unsafe input.bytes
    // The buffer is only read, despite the argument's type.
    try unsafe check(libraw_open_buffer(raw, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count))
    let sizes = unsafe raw.pointee.sizes
    guard max(Int(sizes.raw_width) * Int(sizes.raw_height), Int(sizes.width) * Int(sizes.height)) <= RawPhoto.mostPixels
    else { throw JobFailure(.limit, "has \(sizes.raw_width) × \(sizes.raw_height) pixels, which is too much") }
    return try unsafe body(raw)
  }

  /// Returns the photo upright, in sRGB, with the camera's white balance. Throws if it cannot be developed. Never
  /// returns a thumbnail.
  func picture() throws(JobFailure) -> VipsPicture {
    try unsafe opened { (raw) throws(JobFailure) in try unsafe developed(raw) }
  }

  private func developed(_ raw: UnsafeMutablePointer<libraw_data_t>) throws(JobFailure) -> VipsPicture {
    let damage = Damage()
    defer { withExtendedLifetime(damage) {} }
    unsafe libraw_set_dataerror_handler(
      raw,
      { user, _, _ in unsafe user.map { unsafe Unmanaged<Damage>.fromOpaque($0).takeUnretainedValue() }?.isFound = true
      },
      Unmanaged.passUnretained(damage).toOpaque())
    try unsafe check(libraw_unpack(raw))
    guard !damage.isFound else { throw JobFailure(.damaged, "is a raw photo that cannot be developed") }
    try unsafe check(libraw_dcraw_process(raw))
    var code: Int32 = 0
    let made = unsafe libraw_dcraw_make_mem_image(raw, &code)
    try check(code)
    guard let made = unsafe made else { throw JobFailure.noMemory() }
    defer { unsafe libraw_dcraw_clear_mem(made) }
    let (width, height, colours) = unsafe (
      Int(made.pointee.width), Int(made.pointee.height), Int(made.pointee.colors)
    )
    guard unsafe made.pointee.type == LIBRAW_IMAGE_BITMAP, unsafe made.pointee.bits == 8, [1, 3].contains(colours),
      unsafe Int(made.pointee.data_size) >= width * height * colours,
      let start = MemoryLayout<libraw_processed_image_t>.offset(of: \.data)
    else { throw JobFailure(.unsupported, "is a raw photo of an unknown kind") }
    let pixels = unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(made).advanced(by: start), count: width * height * colours)
    let picture = try unsafe VipsPicture(copying: pixels.bytes, width: width, height: height, bands: colours)
    picture.loader = "raw"
    return picture
  }

  private static let mostPixels = 1 << 28

  /// Whether pixels are missing. LibRaw does not fail by itself in that case.
  private final class Damage { var isFound = false }

  private func check(_ code: Int32) throws(JobFailure) {
    guard code != LIBRAW_SUCCESS.rawValue else { return }
    let words = unsafe libraw_strerror(code).map { unsafe String(cString: $0) } ?? ""
    switch code {
    case LIBRAW_UNSUFFICIENT_MEMORY.rawValue, LIBRAW_MEMPOOL_OVERFLOW.rawValue: throw JobFailure.noMemory(saying: words)
    case LIBRAW_TOO_BIG.rawValue: throw JobFailure(.limit, "has too many pixels", saying: words)
    case LIBRAW_DATA_ERROR.rawValue, LIBRAW_IO_ERROR.rawValue:
      throw JobFailure(.damaged, "is a raw photo that cannot be developed", saying: words)
    default: throw JobFailure(.unsupported, "is a raw photo of an unknown kind", saying: words)
    }
  }
}
