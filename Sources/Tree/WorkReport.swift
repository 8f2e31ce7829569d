/// What views do in the background, and what they could not make: for people who ask what a mount is busy with.
public struct WorkReport: Sendable {
  /// Work under way on one file.
  public struct Activity: Sendable {
    public enum Kind: String, Sendable {
      case converting
      /// Looks for the messages of a mailbox.
      case messages
      /// Indexes the words of a mailbox.
      case words
    }

    public let kind: Kind
    /// Of the file, below the mountpoint.
    public let path: String
    /// What is made of it, as a recipe says it; empty for an index.
    public let recipe: String
    /// How much of the file is done and its size, in bytes, or thousandths for a conversion; nil for one that does not tell.
    public let progress: (done: Int64, size: Int64)?
    /// For how long it has been under way, in seconds; nil if unknown.
    public let seconds: Int?

    public init(
      _ kind: Kind, path: String, recipe: String = "", progress: (done: Int64, size: Int64)? = nil, seconds: Int? = nil
    ) {
      self.kind = kind
      self.path = path
      self.recipe = recipe
      self.progress = progress
      self.seconds = seconds
    }
  }

  /// A conversion that failed the last time.
  public struct Failure: Sendable {
    /// Of the file, below the mountpoint.
    public let path: String
    /// What was to be made of it, as a recipe says it.
    public let recipe: String
    /// As the end of a sentence that starts with the file's name.
    public let reason: String

    public init(path: String, recipe: String, reason: String) {
      self.path = path
      self.recipe = recipe
      self.reason = reason
    }
  }

  public var activities: [Activity] = []
  /// Conversions that wait for a worker.
  public var waiting = 0
  /// Files converted since the mount.
  public var made = 0
  /// The oldest first.
  public var failures: [Failure] = []

  public init() {}

  mutating func add(_ other: WorkReport) {
    activities += other.activities
    waiting += other.waiting
    made += other.made
    failures += other.failures
  }
}

extension Tree {
  /// What all views do in the background. Does not wait for any of it.
  public var work: WorkReport {
    views.all.reduce(into: WorkReport()) { $0.add($1.work) }
  }
}
