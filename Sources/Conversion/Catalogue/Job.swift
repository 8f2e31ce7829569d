/// A unit of work for a worker. It is sent as one message on the worker's socket, with the descriptors of the input
/// and, except for queries, of the output.
public struct Job: Hashable, Sendable {
  public enum Work: Hashable, Sendable {
    /// Returns the number of files that the conversion with this verb makes from one file. Its view shows them in a
    /// directory.
    case count(verb: String)
    /// Finds the job's passwords that open the source: a PDF, the files of a `Bundle`, or another source of the
    /// conversion with this verb. The answer is the number of these passwords. Its remark lists their indices, from 0,
    /// separated by commas.
    case findPasswords(isBundle: Bool, verb: String)
    /// Writes a file to the output.
    case make(Recipe)
    /// Writes this range of the file's bytes to the output.
    case part(Recipe, Range<Int64>)
    /// Writes the file and up to `count` - 1 of those after it in its view to the output, one after the other, as long
    /// as they are small and quickly made. The remark of the answer lists their sizes, separated by spaces.
    case series(Recipe, count: Int)
    /// Returns the size of the file, in bytes, or `JobAnswer.unmeasured`.
    case measure(Recipe)
  }

  /// The number that the answer repeats.
  public var number: UInt64
  public var work: Work
  /// The offset of the input in its descriptor. `size` is the number of its bytes.
  public var start: Int64
  public var size: Int64
  /// Identifies the input so that a worker can keep it open between jobs. Equal only for equal bytes. 0 disables this.
  public var document: UInt64
  /// The maximum size of the output, in bytes.
  public var outputLimit: Int64
  /// Whether the worker requests the input from the daemon (`InputRequest`), because it is not in a file.
  public var isOnDemand = false
  /// Passwords for encrypted input. None is empty or contains a zero byte.
  public var passwords: [[UInt8]] = []

  /// The argument that lets a worker program run jobs with an incomplete sandbox.
  public static let weakSandbox = "--sandbox=weak"

  /// The default maximum size of an output, in bytes.
  public static let usualOutput: Int64 = 2 << 30
  /// The maximum size of any output, in bytes.
  public static let largestOutput: Int64 = 64 << 30

  /// The maximum number of files of a series.
  public static let longestSeries = 16
  /// The maximum size of all files of a series, in bytes.
  public static let largestSeries: Int64 = 1 << 20

  public init(
    number: UInt64, work: Work, start: Int64, size: Int64, document: UInt64 = 0, outputLimit: Int64
  ) {
    self.number = number
    self.work = work
    self.start = start
    self.size = size
    self.document = document
    self.outputLimit = outputLimit
  }
}

extension Job.Work {
  /// The verb of the conversion whose worker program runs the job.
  public var verb: String {
    switch self {
    case .count(let verb): verb
    case .findPasswords(_, let verb): verb
    case .make(let recipe), .part(let recipe, _), .series(let recipe, _), .measure(let recipe): recipe.verb
    }
  }

  /// The recipe of the file that the job is about, the first of a series.
  public var recipe: Recipe? {
    switch self {
    case .make(let recipe), .part(let recipe, _), .series(let recipe, _), .measure(let recipe): recipe
    case .count, .findPasswords: nil
    }
  }
}

/// A worker's answer to a job.
public struct JobAnswer: Hashable, Sendable {
  public enum Outcome: Hashable, Sendable {
    /// Progress, before the actual answer: the number of output bytes that are final, and the thousandths of the work
    /// that are done.
    case underWay(bytes: Int64, thousandths: Int64)
    /// The number of bytes written, or the requested number. `remark` is the end of a sentence that starts with the
    /// file's name, or empty.
    case done(Int64, remark: String = "")
    case failed(Failure, reason: String)
  }

  /// The answer for a file whose size is unknown until it is made.
  public static let unmeasured: Int64 = 0
  /// The remark on a measured size if the parts of a `Conversion.Making.parts` result can only be made together, in
  /// order.
  public static let inOrder = "in order"

  /// Whether a result has all of its source, according to a remark.
  public enum Completeness: Sendable {
    case complete
    /// The source may be a part of something larger.
    case unknown
    case incomplete
  }

  /// The marks of remarks on parts of the source that are missing in the result, and on those that may be.
  private static let (lossMark, doubtMark) = ("\u{1}", "\u{2}")

  /// Returns a remark on missing parts of the source. Empty if `remark` is.
  public static func loss(_ remark: String) -> String { remark.isEmpty ? "" : lossMark + remark }

  /// Returns a remark on a source that may lack parts. Empty if `remark` is.
  public static func doubt(_ remark: String) -> String { remark.isEmpty ? "" : doubtMark + remark }

  /// Returns a remark as it is shown, and what it says about missing parts.
  public static func shown(_ remark: String) -> (text: String, completeness: Completeness) {
    let text = remark.replacing(lossMark, with: "").replacing(doubtMark, with: "")
    return (text, remark.contains(lossMark) ? .incomplete : remark.contains(doubtMark) ? .unknown : .complete)
  }

  public enum Failure: UInt8, Sendable {
    /// The input violates the rules of its format.
    case damaged = 1
    /// The input is well-formed, but cannot be converted.
    case unsupported = 2
    /// A password is needed.
    case locked = 3
    /// A limit of memory, time, or output size was exceeded.
    case limit = 4
    /// The cause is not the input, but for example a failing disk.
    case system = 5
    /// The requested page does not exist.
    case absent = 6
    /// The system is out of memory. A later attempt may succeed.
    case memory = 7
    /// The worker refuses all jobs because its sandbox is incomplete.
    case unprotected = 8
    /// The output's disk is full, or a quota is exhausted.
    case noSpace = 9
  }

  public var number: UInt64
  public var outcome: Outcome

  public init(number: UInt64, outcome: Outcome) {
    self.number = number
    self.outcome = outcome
  }
}
