internal import CFFmpeg
internal import Glibc
internal import WorkerKit

/// A job's output as FFmpeg writes it, or a rehearsal of it that keeps only how long it would be.
@safe final class OutputDoor: ContainerDoor {
  /// nil for a rehearsal.
  private let output: JobOutput?
  private var place: Int64 = 0
  private(set) var count: Int64 = 0
  /// What became of a write, if that failed: FFmpeg tells only that it did.
  private(set) var failure: JobFailure?
  let stream: UnsafeMutablePointer<AVIOContext>

  /// `isSeekable`: whether a muxer may go back, to fill in what it did not know.
  init(_ output: JobOutput?, isSeekable: Bool) throws(JobFailure) {
    self.output = output
    guard let buffer = unsafe av_malloc(InputDoor.bufferSize) else { throw .noMemory() }
    let stream = unsafe avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(InputDoor.bufferSize), 1, nil, nil,
      { unsafe OutputDoor.door(of: $0)?.write($1, $2) ?? -1 }, isSeekable ? OutputDoor.seek : nil)
    guard let stream = unsafe stream else {
      unsafe av_free(buffer)
      throw .noMemory()
    }
    unsafe self.stream = stream
    unsafe stream.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    unsafe av_freep(&stream.pointee.buffer)
    var last: UnsafeMutablePointer<AVIOContext>? = unsafe stream
    unsafe avio_context_free(&last)
  }

  private static let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = { user, offset, origin in
    guard let door = unsafe OutputDoor.door(of: user) else { return -1 }
    return door.seek(offset, origin)
  }

  private static func door(of user: UnsafeMutableRawPointer?) -> OutputDoor? {
    unsafe user.map { unsafe Unmanaged<OutputDoor>.fromOpaque($0).takeUnretainedValue() }
  }

  private func write(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    let span = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count)).bytes
    do throws(JobFailure) { try output?.write(span) } catch {
      failure = error
      return ffmedia_error(EIO)
    }
    place += Int64(count)
    self.count = max(self.count, place)
    return count
  }

  private func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    let base: Int64
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return count
    case SEEK_SET: base = 0
    case SEEK_CUR: base = place
    default: base = count
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return -1 }
    if let output, lseek(output.descriptor, off_t(target), SEEK_SET) != off_t(target) { return -1 }
    place = target
    return target
  }
}
