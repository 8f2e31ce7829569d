internal import Catalogue
internal import Glibc

/// A job's input for handlers that read it in pieces: from the job's file, or from the daemon.
///
/// It stays readable during later jobs on the same document.
public final class PiecewiseInput {
  /// The size in bytes.
  public let count: Int64
  /// `nil` if the daemon sends the bytes.
  private let file: JobInput?
  /// The blocks that the daemon has sent, by number, with the time of their last use.
  private var blocks: [Int64: (bytes: [UInt8], usedAt: UInt64)] = [:]
  private var clock: UInt64 = 0

  private static let blockSize = Int64(InputRequest.most)
  private static let mostBlocks = 32

  init(_ file: JobInput) {
    self.file = file
    count = Int64(file.count)
  }

  /// Creates an input that the daemon sends.
  init(requesting count: Int64) {
    self.count = count
    file = nil
  }

  /// Reads from an offset. Returns the number of bytes, which is less than the buffer's size only at the end. Returns
  /// -1 if they cannot be read.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard offset >= 0, offset < count else { return 0 }
    let wanted = Int(min(Int64(buffer.count), count - offset))
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    if let file {
      // The file is shorter than it was.
      let done = unsafe file.read(into: target, at: Int(offset))
      return done == wanted ? done : -1
    }
    var done = 0
    while done < wanted {
      let place = offset + Int64(done)
      guard let block = block(place / Self.blockSize) else { return -1 }
      let start = Int(place % Self.blockSize)
      let step = min(wanted - done, block.count - start)
      guard step > 0 else { return -1 }
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[done..<done + step]).copyBytes(
        from: block[start..<start + step])
      done += step
    }
    return done
  }

  /// Returns up to `count` bytes from an offset, fewer at the end. Throws if they cannot be read.
  public func bytes(_ count: Int, at offset: Int64) throws(JobFailure) -> [UInt8] {
    var hasFailed = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      let came = unsafe read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      (done, hasFailed) = (max(0, came), came < 0)
    }
    if hasFailed { throw Self.failure }
    return bytes
  }

  /// The failure of reading the input.
  public static let failure = JobFailure(.system, "cannot be read")

  private func block(_ number: Int64) -> [UInt8]? {
    clock += 1
    if let known = blocks[number] {
      blocks[number]?.usedAt = clock
      return known.bytes
    }
    let start = number * Self.blockSize
    guard let bytes = JobSocket.input(at: start, count: Int(min(Self.blockSize, count - start))) else { return nil }
    if blocks.count >= Self.mostBlocks, let oldest = blocks.min(by: { $0.value.usedAt < $1.value.usedAt })?.key {
      blocks[oldest] = nil
    }
    blocks[number] = (bytes, clock)
    return bytes
  }
}

extension JobOrder {
  /// Returns the input for a handler that reads it in pieces.
  public func piecewiseInput() throws(JobFailure) -> PiecewiseInput {
    guard job.size > 0 else { throw JobFailure(.damaged, "is empty") }
    return job.isOnDemand ? PiecewiseInput(requesting: job.size) : try PiecewiseInput(input())
  }
}
