internal import Bytes
internal import CVips
internal import Catalogue
internal import Glibc
public import Pixels
internal import WorkerKit

/// The libvips implementation for images inside other files.
public struct VipsLibrary: ImageLibrary {
  public init() {}

  public func resized(_ samples: Samples, to width: Int, _ height: Int) -> Samples? {
    try? { () throws(JobFailure) in
      var call = try VipsCall("resize")
      call.set("in", try VipsPicture(copying: samples))
      call.set("scale", Double(width) / Double(samples.width))
      call.set("vscale", Double(height) / Double(samples.height))
      return try call.result().samples()
    }()
  }

  public func samples(jpeg2000 bytes: [UInt8]) -> Samples? {
    JPEG2000Palette(bytes) == nil ? load(bytes, "jp2kload_source") : nil
  }

  public func samples(fax bytes: [UInt8], width: Int, height: Int) -> Samples? {
    // libvips reads the bytes as a TIFF file with one strip.
    let end = 8 + (bytes.count + 1) / 2 * 2
    let entries: [(tag: Int, isLong: Bool, value: Int)] = [
      (256, true, width), (257, true, height), (258, false, 1), (259, false, 4), (262, false, 0),
      (273, true, 8), (277, false, 1), (278, true, height), (279, true, bytes.count), (293, true, 0),
    ]
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      [UInt8](littleEndian: value, count: count)
    }
    var file = [0x49, 0x49, 0x2A, 0x00] + number(end, 4) + bytes
    if file.count < end { file.append(0) }
    file += number(entries.count, 2)
    for (tag, isLong, value) in entries {
      file += number(tag, 2) + number(isLong ? 4 : 3, 2) + number(1, 4) + number(value, 4)
    }
    file += number(0, 4)
    return load(file, "tiffload_source").flatMap {
      $0.width == width && $0.height == height && $0.bands == 1 ? $0 : nil
    }
  }

  private func load(_ bytes: [UInt8], _ loader: String) -> Samples? {
    // The source borrows the array's memory.
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = unsafe vips_source_new_from_memory(bytes.baseAddress, bytes.count) else { return nil }
      defer { unsafe g_object_unref(source) }
      return try? { () throws(JobFailure) in
        var call = try VipsCall(loader)
        unsafe call.set("source", source: source)
        call.set("fail-on", "warning")
        return try call.result().samples()
      }()
    }
  }
}

extension VipsPicture {
  fileprivate convenience init(copying samples: Samples) throws(JobFailure) {
    guard
      let pointer = unsafe vips_image_new_from_memory_copy(
        samples.bytes, samples.bytes.count, Int32(samples.width), Int32(samples.height), Int32(samples.bands),
        VIPS_FORMAT_UCHAR)
    else { throw JobFailure.noMemory(saying: Vips.takeError()) }
    unsafe self.init(pointer)
  }

  fileprivate func samples() throws(JobFailure) -> Samples {
    var count = 0
    guard isByte, width * height <= Samples.limit / bands else {
      throw JobFailure(.unsupported, "has an image of an unusual kind")
    }
    guard let memory = unsafe vips_image_write_to_memory(pointer, &count) else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    defer { unsafe g_free(memory) }
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: memory, count: count))
    guard let samples = Samples(width: width, height: height, bands: bands, bytes: bytes) else {
      throw JobFailure(.limit, "has an image that is too large")
    }
    return samples
  }
}
