internal import Bytes
internal import Glibc
internal import Threads

/// A bzip2 block in the form of a separate stream.
struct Bzip2Block: Sendable {
  let stream: [UInt8]

  /// The maximum output size, in bytes. Run lengths can expand a block of 900,000 bytes to this size.
  private static let longestOutput = 48 << 20

  /// Returns the decoded bytes. Returns `nil` if the block is damaged.
  func decoded() throws(Fault) -> [UInt8]? {
    let decoder = try Bzip2Decoder()
    var output: [UInt8] = []
    var used = 0
    let step = 1 << 20
    while true {
      var fault: Fault?
      var progress = StreamProgress()
      let part = unsafe [UInt8](unsafeUninitializedCapacity: step) { buffer, initialized in
        unsafe stream.withUnsafeBytes { bytes in
          do throws(Fault) {
            progress = unsafe try decoder.decode(
              UnsafeRawBufferPointer(rebasing: bytes[used...]), into: UnsafeMutableRawBufferPointer(buffer))
          } catch { fault = error }
        }
        initialized = progress.produced
      }
      if let fault {
        if fault.kind == .damaged { return nil }
        throw fault
      }
      used += progress.consumed
      output = output.isEmpty ? part : output + part
      if progress.isFinished { return output }
      guard progress.consumed > 0 || progress.produced > 0, output.count <= Self.longestOutput else { return nil }
    }
  }
}

/// Consecutive blocks that worker threads decode ahead of a reader.
///
/// Not thread-safe.
final class Bzip2Ahead {
  private struct Job {
    /// The position of the block, in bits.
    let range: Range<Int64>
    let outcome = Monitor<Result<[UInt8]?, Fault>?>(nil)
  }

  private var jobs: [Job] = []

  /// The maximum number of jobs: the number of processors, but at most four to limit memory.
  private static let count = min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 4)
  private static let workers = ThreadPool(atMost: count)

  /// Whether another block may be decoded ahead. False on a single processor, which the reader needs itself.
  var hasRoom: Bool { Self.count > 1 && jobs.count < Self.count }

  /// The bit position after the last block. Nil if no block is being decoded.
  var end: Int64? { jobs.last?.range.upperBound }

  func decode(_ block: Bzip2Block, at range: Range<Int64>) {
    let job = Job(range: range)
    jobs.append(job)
    Self.workers.submit { [outcome = job.outcome] in
      let result: Result<[UInt8]?, Fault>
      do throws(Fault) { result = .success(try block.decoded()) } catch { result = .failure(error) }
      outcome.update { $0 = result }
    }
  }

  /// Waits for the block at a bit position and removes it.
  ///
  /// Returns `nil` if the next job is for another position, or if its block does not end where expected. All later jobs
  /// are then dropped.
  func take(at start: Int64) throws(Fault) -> (bytes: [UInt8], end: Int64)? {
    guard let job = jobs.first else { return nil }
    // If the wait is interrupted, the job stays and is taken later.
    let result = try job.outcome.wait { $0 }
    jobs.removeFirst()
    if job.range.lowerBound == start, let bytes = try result.get() { return (bytes, job.range.upperBound) }
    jobs = []
    return nil
  }
}
