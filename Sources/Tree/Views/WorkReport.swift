/// The background work of views and the conversions that failed, to show users what a mount is busy with.
public struct WorkReport: Sendable {
  /// Work in progress on one file.
  public struct Activity: Sendable {
    public enum Kind: String, Sendable {
      case converting
      /// Finding the messages of a mailbox.
      case messages
      /// Indexing the words of a mailbox.
      case words
      /// Indexing the documents below a folder.
      case documents
      /// Copying a file of another machine.
      case download
    }

    public let kind: Kind
    /// The file's path below the mountpoint.
    public let path: String
    /// The recipe of the conversion. For an index, the reason why it waits, or empty.
    public let recipe: String
    /// The amount of the file that is done and its size, in bytes, or thousandths for a conversion. `nil` if unknown.
    public let progress: (done: Int64, size: Int64)?
    /// The elapsed time, in seconds. `nil` if unknown.
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

  /// A conversion whose last attempt failed.
  public struct Failure: Sendable {
    /// The file's path below the mountpoint.
    public let path: String
    /// The recipe of the conversion.
    public let recipe: String
    /// The end of a sentence that starts with the file's name.
    public let reason: String

    public init(path: String, recipe: String, reason: String) {
      self.path = path
      self.recipe = recipe
      self.reason = reason
    }
  }

  public var activities: [Activity] = []
  /// The number of conversions that wait for a worker.
  public var waiting = 0
  /// The number of files converted since the mount.
  public var made = 0
  /// The failures, oldest first.
  public var failures: [Failure] = []

  public init() {}

  package mutating func add(_ other: WorkReport) {
    activities += other.activities
    waiting += other.waiting
    made += other.made
    failures += other.failures
  }
}

extension Tree {
  /// The background work of all views. Does not block.
  public var work: WorkReport {
    views.all.reduce(into: WorkReport()) { $0.add($1.work) }
  }
}
