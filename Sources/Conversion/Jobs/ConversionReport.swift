internal import Catalogue

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
