public import Catalogue

/// A handler that carries out conversions in a worker program. It is the counterpart of `Conversion` and is found by
/// its verbs.
///
/// A value is created before the sandbox closes, and used by one thread.
public protocol JobHandler {
  /// The verbs of the conversions that this handler carries out.
  static var verbs: [String] { get }

  /// The number of documents kept open for the next job on them. Each may use one descriptor.
  var openDocuments: Int { get }

  /// Whether the process ends after the current job. The next job then gets a new process.
  var isSpent: Bool { get }

  /// Writes a recipe's result to `output`. Returns a remark, or an empty string. A remark completes a sentence that
  /// begins with the file's name. Throws `unsupported` if the recipe's arguments are invalid.
  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String

  /// Answers a query about the input if this handler's verb is the one for queries of that kind.
  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome

  /// Closes the least recently used document. Returns false if none is open.
  mutating func closeOne() -> Bool
}

extension JobHandler {
  public var openDocuments: Int { 0 }
  public var isSpent: Bool { false }
  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome { throw .unknown }
  public mutating func closeOne() -> Bool { false }
}

extension JobFailure {
  /// A failure for a job that this program has no handler for, or whose arguments are invalid.
  public static var unknown: JobFailure { JobFailure(.unsupported, "is for another program") }
}
