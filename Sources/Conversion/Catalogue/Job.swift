/// A piece of work for a worker: one message on its socket, with the descriptors of the input and, but for a question, of
/// the output.
public struct Job: Hashable, Sendable {
  public enum Work: Hashable, Sendable {
    /// How many files a conversion, of this verb, makes of one, which its view shows in a folder: answered with a number.
    case count(verb: String)
    /// Which of the job's passwords open a PDF, or those of the files of a `Bundle`, or what else the conversion of this verb
    /// reads: answered with how many do, and remarked with their numbers, from 0, parted by commas.
    case findPasswords(isBundle: Bool, verb: String)
    /// Writes a file to the output.
    case make(Recipe)
    /// Writes this range of the file's bytes to the output.
    case part(Recipe, Range<Int64>)
    /// How many bytes the file would have: answered with a number, or with `JobAnswer.unmeasured`.
    case measure(Recipe)
  }

  /// Told again in the answer.
  public var number: UInt64
  public var work: Work
  /// Where the bytes start in the input's descriptor, and how many they are.
  public var start: Int64
  public var size: Int64
  /// Equal for equal bytes only: a document stays open for the next job on it. 0: for this job alone.
  public var document: UInt64
  /// At most how many bytes the output may have.
  public var outputLimit: Int64
  /// Passwords for what is encrypted; none of them is empty or has a byte of 0.
  public var passwords: [[UInt8]] = []

  /// The argument by which a worker program carries out jobs even if its sandbox is incomplete.
  public static let weakSandbox = "--sandbox=weak"

  /// No output may have more bytes, unless its conversion says otherwise.
  public static let usualOutput: Int64 = 2 << 30
  /// No output ever has more.
  public static let largestOutput: Int64 = 64 << 30

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
  /// Of the conversion whose worker program does it.
  public var verb: String {
    switch self {
    case .count(let verb): verb
    case .findPasswords(_, let verb): verb
    case .make(let recipe), .part(let recipe, _), .measure(let recipe): recipe.verb
    }
  }

  /// Of the file that it is about.
  public var recipe: Recipe? {
    switch self {
    case .make(let recipe), .part(let recipe, _), .measure(let recipe): recipe
    case .count, .findPasswords: nil
    }
  }
}

/// What a worker says of a job.
public struct JobAnswer: Hashable, Sendable {
  public enum Outcome: Hashable, Sendable {
    /// No answer yet: so many bytes of the output will not change any more, and so many thousandths of the work are done.
    case underWay(bytes: Int64, thousandths: Int64)
    /// How many bytes were written, or the number asked for; and what there is to be said of them, the end of a sentence that
    /// starts with the file's name, or nothing.
    case done(Int64, remark: String = "")
    case failed(Failure, reason: String)
  }

  /// For a file whose size shows only when it is made.
  public static let unmeasured: Int64 = 0
  /// The remark on a measured size of `Conversion.Making.parts` where no part is made by itself: only all, in their order.
  public static let inOrder = "in order"

  public enum Failure: UInt8, Sendable {
    /// The bytes break their format's rules.
    case damaged = 1
    /// Well formed, but nothing that can be made of it here.
    case unsupported = 2
    /// A password is needed.
    case locked = 3
    /// Memory, time, or the size of the output.
    case limit = 4
    /// Not the bytes' fault: a failing disk, for example.
    case system = 5
    /// There is no such page.
    case absent = 6
    /// The machine had no memory for it, and may have some later.
    case memory = 7
    /// The worker does nothing here: of what is to shut it in something is missing.
    case unprotected = 8
    /// The disk of the output is full, or a quota is used up.
    case noSpace = 9
  }

  public var number: UInt64
  public var outcome: Outcome

  public init(number: UInt64, outcome: Outcome) {
    self.number = number
    self.outcome = outcome
  }
}
