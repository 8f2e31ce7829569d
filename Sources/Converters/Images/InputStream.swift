internal import CVips
internal import Glibc
internal import JobFiles

/// A job's input as libvips reads it: piece by piece, because what is mapped and has been read stays in the worker's memory,
/// where a large file counts for more than its picture.
///
/// For one thread at a time, which libvips sees to.
@safe final class InputStream {
  /// Bytes that are read instead of those that the input has at a place.
  struct Patch {
    let place: Int
    let bytes: [UInt8]
  }

  private let input: JobInput
  private let patches: [Patch]
  private var position = 0
  var count: Int { input.count }

  init(_ input: JobInput, _ patches: [Patch]) {
    self.input = input
    self.patches = patches
  }

  /// A source to be freed by the caller; nil when there is no memory for it.
  fileprivate static func source(of stream: InputStream) -> UnsafeMutablePointer<VipsSource>? {
    guard let source = unsafe vips_source_custom_new() else { return nil }
    // One reference for each signal, given back with the source.
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

  /// What `user` stands for, which somebody else keeps.
  static func stream(of user: UnsafeMutableRawPointer?) -> InputStream? {
    unsafe user.map { unsafe Unmanaged<InputStream>.fromOpaque($0).takeUnretainedValue() }
  }

  /// read(2).
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
    let count = unsafe input.read(into: buffer, at: position)
    guard count > 0 else { return Int64(count) }
    for patch in patches {
      let wanted = max(position, patch.place)..<max(position, patch.place, min(position + count, patch.end))
      for place in wanted { unsafe buffer[place - position] = patch.bytes[place - patch.place] }
    }
    position += count
    return Int64(count)
  }

  /// lseek(2).
  func seek(_ offset: Int, _ origin: Int32) -> Int64 {
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

extension InputStream.Patch {
  fileprivate var end: Int { place + bytes.count }
}

/// What libvips calls that: closed with its owner, also when nothing comes of opening an image.
@safe final class InputSource {
  let pointer: UnsafeMutablePointer<VipsSource>

  init(_ input: JobInput, _ patches: [InputStream.Patch]) throws(JobFailure) {
    guard let pointer = unsafe InputStream.source(of: InputStream(input, patches)) else {
      throw JobFailure.noMemory(saying: Vips.takeError())
    }
    unsafe self.pointer = pointer
  }

  deinit { unsafe g_object_unref(pointer) }
}
