internal import CFFmpeg
internal import Glibc
internal import WorkerKit

/// FFmpeg's stream of a container's bytes. It reads from a job's input or writes through a `MuxerIO`, never by a
/// path.
@safe final class ByteStream {
  private enum Side {
    case input(JobInput)
    case door(any MuxerIO)
  }

  /// The FFmpeg context, which is freed with this object.
  let pointer: UnsafeMutablePointer<AVIOContext>
  private let side: Side
  /// The offset of the next byte to read or write.
  private var place: Int64 = 0
  /// The end of the bytes written so far.
  private var reached: Int64 = 0
  /// The failure of a write, if one failed. FFmpeg reports only that it failed.
  private(set) var failure: JobFailure?

  private static let bufferSize = 1 << 17

  convenience init(of input: JobInput) throws(JobFailure) { try self.init(.input(input), isSeekable: true) }

  /// Creates a stream for writing. `isSeekable` tells whether a muxer may seek back to fill in values.
  convenience init(through door: any MuxerIO, isSeekable: Bool) throws(JobFailure) {
    try self.init(.door(door), isSeekable: isSeekable)
  }

  private init(_ side: Side, isSeekable: Bool) throws(JobFailure) {
    self.side = side
    guard let buffer = unsafe av_malloc(Self.bufferSize) else { throw .noMemory() }
    var isWritten: Int32 = 0
    if case .door = side { isWritten = 1 }
    let made = unsafe avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), isWritten, nil,
      { unsafe ByteStream.stream(of: $0)?.read($1, $2) ?? ffmedia_end },
      { unsafe ByteStream.stream(of: $0)?.write($1, $2) ?? ffmedia_error(EIO) }, isSeekable ? Self.seek : nil)
    guard let made = unsafe made else {
      unsafe av_free(buffer)
      throw .noMemory()
    }
    unsafe pointer = made
    // The context does not outlive this object.
    unsafe made.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    unsafe av_freep(&pointer.pointee.buffer)
    var last: UnsafeMutablePointer<AVIOContext>? = unsafe pointer
    unsafe avio_context_free(&last)
  }

  private static let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = { user, offset, origin in
    unsafe stream(of: user)?.seek(offset, origin) ?? -1
  }

  private static func stream(of user: UnsafeMutableRawPointer?) -> ByteStream? {
    unsafe user.map { unsafe Unmanaged<ByteStream>.fromOpaque($0).takeUnretainedValue() }
  }

  private var count: Int64 {
    switch side {
    case .input(let input): Int64(input.count)
    case .door: reached
    }
  }

  private func read(_ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard case .input(let input) = side else { return ffmedia_end }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
    let came = unsafe input.read(into: buffer, at: Int(place))
    guard came > 0 else { return came == 0 ? ffmedia_end : ffmedia_error(errno) }
    place += Int64(came)
    return Int32(came)
  }

  private func write(_ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard case .door(let door) = side else { return ffmedia_error(EIO) }
    do throws(JobFailure) {
      unsafe try door.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: place)
    } catch {
      failure = error
      return ffmedia_error(EIO)
    }
    place += Int64(count)
    reached = max(reached, place)
    return count
  }

  private func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    let base: Int64
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return count
    case SEEK_SET: base = 0
    case SEEK_CUR: base = place
    case SEEK_END: base = count
    default: return -1
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return -1 }
    place = target
    return target
  }
}
