internal import Catalogue
internal import Locks

/// A user-visible report of conversions in progress and failures.
public struct ConversionReport: Sendable {
  /// A conversion in progress.
  public struct Job: Sendable {
    /// The path of the source.
    public let path: String
    public let recipe: String
    /// The time since a worker started the job, in seconds.
    public let seconds: Int
    /// The completed part of the work, in thousandths. `nil` if unknown.
    public let thousandths: Int64?
  }

  public let running: [Job]
  /// The number of conversions that wait for a worker.
  public let waiting: Int
  /// The number of files made.
  public let made: Int
  /// The failures, oldest first.
  public let failures: [FailedConversions.Failure]
}

extension Job.Work {
  /// A user-visible name.
  var name: String {
    switch self {
    case .make(let recipe), .part(let recipe, _), .series(let recipe, _), .measure(let recipe):
      [recipe.verb, recipe.arguments ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    case .count(let verb): verb
    case .findPasswords: "passwords"
    }
  }
}

extension ConversionService {
  /// The current report. Does not block.
  public var report: ConversionReport {
    let (jobs, made, failed) = state.withLock { ($0.jobs, $0.madeCount, $0.failed) }
    let running = jobs.compactMap { key, job in
      job.task.runningTime.map {
        ConversionReport.Job(
          path: job.subject.path(), recipe: key.work.name, seconds: $0, thousandths: job.task.thousandths)
      }
    }
    return ConversionReport(
      running: running.sorted { $0.seconds > $1.seconds }, waiting: jobs.count - running.count, made: made,
      failures: failed.all)
  }
}
