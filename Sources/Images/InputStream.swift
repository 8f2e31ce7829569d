internal import CVips
internal import Glibc
internal import JobFiles

/// A job's input as libvips reads it: piece by piece, because what is mapped and has been read stays in the worker's memory,
/// where a large file counts for more than its picture.
///
/// For one thread at a time, which libvips sees to.
@safe final class InputStream {
  private let input: JobInput
  private var position = 0

  private init(_ input: JobInput) { self.input = input }

  /// A source to be freed by the caller; nil when there is no memory for it.
  fileprivate static func source(of input: JobInput) -> UnsafeMutablePointer<VipsSource>? {
    guard let source = unsafe vips_source_custom_new() else { return nil }
    // One reference for each signal, given back with the source.
    let stream = InputStream(input)
    let read: ReadCallback = { _, buffer, count, user in
      unsafe InputStream.stream(of: user)?.read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))) ?? -1
    }
    let seek: SeekCallback = { _, offset, origin, user in
      unsafe InputStream.stream(of: user)?.seek(Int(offset), origin) ?? -1
    }
    unsafe stream.connect(source, "read", unsafeBitCast(read, to: GCallback.self))
    unsafe stream.connect(source, "seek", unsafeBitCast(seek, to: GCallback.self))
    return unsafe UnsafeMutableRawPointer(source).assumingMemoryBound(to: VipsSource.self)
  }

  private typealias ReadCallback =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int64, UnsafeMutableRawPointer?) -> Int64
  private typealias SeekCallback =
    @convention(c) (UnsafeMutableRawPointer?, Int64, Int32, UnsafeMutableRawPointer?) -> Int64

  private func connect(_ source: UnsafeMutablePointer<VipsSourceCustom>, _ signal: String, _ callback: GCallback) {
    let user = unsafe Unmanaged.passRetained(self).toOpaque()
    unsafe g_signal_connect_data(
      source, signal, callback, user,
      { user, _ in if let user = unsafe user { unsafe Unmanaged<InputStream>.fromOpaque(user).release() } },
      GConnectFlags(rawValue: 0))
  }

  private static func stream(of user: UnsafeMutableRawPointer?) -> InputStream? {
    unsafe user.map { unsafe Unmanaged<InputStream>.fromOpaque($0).takeUnretainedValue() }
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
    let count = unsafe input.read(into: buffer, at: position)
    if count > 0 { position += count }
    return Int64(count)
  }

  /// lseek(2).
  private func seek(_ offset: Int, _ origin: Int32) -> Int64 {
    let base =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: input.count
      }
    let (place, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, place >= 0 else { return -1 }
    position = place
    return Int64(place)
  }
}

/// What libvips calls that: closed with its owner, also when nothing comes of opening an image.
@safe final class InputSource {
  let pointer: UnsafeMutablePointer<VipsSource>

  init(_ input: JobInput) throws(JobFailure) {
    guard let pointer = unsafe InputStream.source(of: input) else {
      throw JobFailure.noMemory(saying: Vips.takeError())
    }
    unsafe self.pointer = pointer
  }

  deinit { unsafe g_object_unref(pointer) }
}
