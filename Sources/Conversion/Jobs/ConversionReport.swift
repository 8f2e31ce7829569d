internal import Catalogue
internal import Synchronization

/// What a `ConversionService` is making, and what it could not make: for people.
public struct ConversionReport: Sendable {
  /// A conversion under way.
  public struct Job: Sendable {
    /// Of the file.
    public let path: String
    public let recipe: String
    /// For how long a worker has been at it, in seconds.
    public let seconds: Int
    /// How much of it is done; nil for what does not tell.
    public let thousandths: Int64?
  }

  public let running: [Job]
  /// How many conversions wait for a worker.
  public let waiting: Int
  /// How many files have been made.
  public let made: Int
  /// The oldest first.
  public let failures: [FailedConversions.Failure]
}

extension Job.Work {
  /// For people.
  var name: String {
    switch self {
    case .make(let recipe), .part(let recipe, _), .measure(let recipe):
      [recipe.verb, recipe.arguments ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    case .count(let verb): verb
    case .findPasswords: "passwords"
    }
  }
}

extension ConversionService {
  /// Does not wait for any of it.
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
