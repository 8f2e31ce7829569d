public import Catalogue
internal import Glibc

/// A job with its files, which are closed when the object is released.
public final class JobOrder {
  public let job: Job
  private let source: Int32
  /// The output file. `nil` for a query.
  public let output: JobOutput?

  /// Takes ownership of the descriptors.
  init(_ job: Job, input: Int32, output: Int32?) {
    self.job = job
    source = input
    self.output = output.map { descriptor in
      JobOutput(descriptor: descriptor, limit: job.outputLimit) { outcome in
        _ = JobSocket.send(JobAnswer(number: job.number, outcome: outcome))
      }
    }
  }

  /// The range of the result's bytes that is requested. `nil` for all bytes.
  public var part: Range<Int64>? {
    if case .part(_, let range) = job.work { range } else { nil }
  }

  /// The maximum number of files to write. `nil` if the job is not a series.
  public var series: Int? {
    if case .series(_, let count) = job.work { count } else { nil }
  }

  deinit { close(source) }

  public func input() throws(JobFailure) -> JobInput {
    try JobInput(descriptor: source, offset: job.start, size: job.size)
  }

  /// Calls `body` with the file, or with each file of a bundle that can be opened.
  public func forEachInput(ofBundle isBundle: Bool, _ body: (JobInput) -> Void) throws(JobFailure) {
    guard isBundle else { return try body(input()) }
    try forEachMember { (_, open) in if let input = try? open() { body(input) } }
  }

  /// Calls `body` with the name of each file of a bundle and a function that opens the file.
  public func forEachMember(
    _ body: (_ name: String, _ open: () throws(JobFailure) -> JobInput) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    for member in try members() {
      try body(member.name) { () throws(JobFailure) in try input(from: member.start, size: member.size) }
    }
  }

  /// Returns the files of a bundle with their offsets and sizes, for any number of calls of `input(from:size:)`.
  public func members() throws(JobFailure) -> [(name: String, start: Int64, size: Int64)] {
    let lead = try input(from: 0, size: min(job.size, Int64(Bundle.lead))).copy
    guard let size = Bundle.listSize(lead), let bundle = try Bundle(list: input(from: 0, size: size).copy) else {
      throw JobFailure(.system, "is not a list of files")
    }
    var place = size
    var members: [(name: String, start: Int64, size: Int64)] = []
    for member in bundle.members {
      guard member.size <= job.size - place else { throw JobFailure(.system, "is not a list of files") }
      members.append((member.name, place, member.size))
      place += member.size
    }
    return members
  }

  /// Returns a part of the input.
  public func input(from place: Int64, size: Int64) throws(JobFailure) -> JobInput {
    guard place >= 0, size >= 0, size <= job.size, place <= job.size - size else {
      throw JobFailure(.system, "is shorter than it was")
    }
    return try JobInput(descriptor: source, offset: job.start + place, size: size)
  }
}

extension JobInput {
  fileprivate var copy: [UInt8] { withExtendedLifetime(self) { unsafe Array(bytes) } }
}
