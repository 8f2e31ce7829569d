internal import CVips
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A job's input as a libvips source. It is read in pieces instead of mapped. The pages of a mapping count towards the
/// worker's memory once read, where a large file would outweigh its picture.
///
/// Must be used by one thread at a time, which libvips ensures.
@safe final class InputStream {
  /// Bytes that replace those of the input at an offset.
  struct Patch {
    let place: Int
    let bytes: [UInt8]
  }

  private enum Content {
    case input(JobInput)
    case memory([UInt8])
  }

  private let content: Content
  private let patches: [Patch]
  private let tail: [UInt8]
  private var position = 0
  let count: Int

  /// - Parameter tail: bytes that follow those of the input.
  init(_ input: JobInput, _ patches: [Patch], tail: [UInt8] = []) {
    content = .input(input)
    self.tail = tail
    count = input.count + tail.count
    self.patches = patches
  }

  /// Reads bytes in memory.
  init(_ bytes: [UInt8]) {
    content = .memory(bytes)
    tail = []
    count = bytes.count
    patches = []
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
    switch content {
    case .input(let input):
      guard place >= input.count, place < count else { return unsafe input.read(into: buffer, at: place) }
      let part = tail[(place - input.count)...].prefix(buffer.count)
      unsafe buffer.copyBytes(from: part)
      return part.count
    case .memory(let bytes):
      guard place < bytes.count else { return 0 }
      let part = bytes[place..<min(bytes.count, place + buffer.count)]
      unsafe buffer.copyBytes(from: part)
      return part.count
    }
  }

  /// Returns a source, to be released by the caller. Returns `nil` if memory is short.
  fileprivate static func source(of stream: InputStream) -> UnsafeMutablePointer<VipsSource>? {
    guard let source = unsafe vips_source_custom_new() else { return nil }
    // One reference for each signal, released with the source.
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

  /// Returns the stream that `user` points to, without retaining it.
  static func stream(of user: UnsafeMutableRawPointer?) -> InputStream? {
    unsafe user.map { unsafe Unmanaged<InputStream>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Reads bytes like read(2).
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int64 {
    let count = unsafe read(into: buffer, at: position)
    guard count > 0 else { return Int64(count) }
    for patch in patches {
      let wanted = max(position, patch.place)..<max(position, patch.place, min(position + count, patch.end))
      for place in wanted { unsafe buffer[place - position] = patch.bytes[place - patch.place] }
    }
    position += count
    return Int64(count)
  }

  /// Moves the position like lseek(2).
  func seek(_ offset: Int, _ origin: Int32) -> Int64 {
    let base =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: position
      default: count
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

/// A libvips source that is closed with its owner, also if opening an image fails.
@safe final class InputSource {
  let pointer: UnsafeMutablePointer<VipsSource>

  init(_ stream: InputStream) throws(JobFailure) {
    guard let pointer = unsafe InputStream.source(of: stream) else {
      throw JobFailure.noMemory(saying: Vips.takeError())
    }
    unsafe self.pointer = pointer
  }

  deinit { unsafe g_object_unref(pointer) }
}
