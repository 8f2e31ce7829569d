public import Catalogue

/// Carries out conversions in a worker program: the counterpart of `Conversion`, found by the verb.
///
/// A value is created before the sandbox closes, and used by one thread.
public protocol JobHandler {
  /// The verbs of the conversions that it carries out.
  static var verbs: [String] { get }

  /// The number of documents kept open for the next job on them; each may hold one descriptor.
  var openDocuments: Int { get }

  /// Whether the process ends with the job that it has just done: another one is started for the next.
  var isSpent: Bool { get }

  /// Makes a recipe's result and writes it to `output`. Returns a remark, the end of a sentence that starts with the
  /// file's name, or nothing. A recipe whose arguments have no meaning is unsupported.
  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String

  /// Answers a question about the input, if its verb is the one that questions of that kind are for.
  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome

  /// Closes the document that was not used for longest; returns false if none is open.
  mutating func closeOne() -> Bool
}

extension JobHandler {
  public var openDocuments: Int { 0 }
  public var isSpent: Bool { false }
  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome { throw .unknown }
  public mutating func closeOne() -> Bool { false }
}

extension JobFailure {
  /// For a job that this program has no handler for, or whose arguments have no meaning.
  public static var unknown: JobFailure { JobFailure(.unsupported, "is for another program") }
}
