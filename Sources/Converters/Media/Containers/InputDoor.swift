internal import CFFmpeg
internal import Glibc
internal import WorkerKit

/// A job's input as FFmpeg reads it: bytes at places, never a path.
@safe final class InputDoor {
  private let input: JobInput
  private var place = 0
  let stream: UnsafeMutablePointer<AVIOContext>

  static let bufferSize = 1 << 16

  init(_ input: JobInput) throws(JobFailure) {
    self.input = input
    guard let buffer = unsafe av_malloc(Self.bufferSize) else { throw .noMemory() }
    let stream = unsafe avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0, nil,
      { unsafe InputDoor.door(of: $0)?.read($1, $2) ?? ffmedia_end }, nil,
      { unsafe InputDoor.door(of: $0)?.seek($1, $2) ?? -1 })
    guard let stream = unsafe stream else {
      unsafe av_free(buffer)
      throw .noMemory()
    }
    unsafe self.stream = stream
    // It goes no later than the door.
    unsafe stream.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    unsafe av_freep(&stream.pointee.buffer)
    var last: UnsafeMutablePointer<AVIOContext>? = unsafe stream
    unsafe avio_context_free(&last)
  }

  private static func door(of user: UnsafeMutableRawPointer?) -> InputDoor? {
    unsafe user.map { unsafe Unmanaged<InputDoor>.fromOpaque($0).takeUnretainedValue() }
  }

  private func read(_ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    let came = unsafe input.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: place)
    guard came > 0 else { return came == 0 ? ffmedia_end : ffmedia_error(errno) }
    place += came
    return Int32(came)
  }

  private func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    let base: Int
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return Int64(input.count)
    case SEEK_SET: base = 0
    case SEEK_CUR: base = place
    case SEEK_END: base = input.count
    default: return -1
    }
    let (target, overflow) = base.addingReportingOverflow(Int(offset))
    guard !overflow, target >= 0 else { return -1 }
    place = target
    return Int64(target)
  }
}
