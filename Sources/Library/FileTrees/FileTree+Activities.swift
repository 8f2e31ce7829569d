internal import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// Work in progress on one file.
  public struct Activity: Sendable, Hashable {
    /// A kind of work.
    public enum Work: Sendable, Hashable {
      /// The file is converted.
      case converting
      /// The messages of a mailbox are located.
      case findingMessages
      /// The words of messages are indexed, for searches.
      case indexingWords
    }

    /// The kind of work.
    public let work: Work
    /// The path of the file, from the root.
    public let path: FilePath
    /// The completed fraction, from 0 to 1. `nil` if it is unknown.
    public let fraction: Double?
    /// The completed part, in bytes. `nil` for a conversion.
    public let bytes: Int64?
    /// The size of the file, in bytes. `nil` for a conversion.
    public let size: Int64?
  }

  /// The work in progress, requested or ahead of requests. Does not block.
  public var activities: [Activity] {
    tree.work.activities.map { activity in
      let work: Activity.Work
      switch activity.kind {
      case .converting: work = .converting
      case .messages: work = .findingMessages
      case .words: work = .indexingWords
      }
      let fraction = activity.progress.map { done, size in
        size > 0 ? min(1, max(0, Double(done) / Double(size))) : 0
      }
      let bytes = work == .converting ? nil : activity.progress
      return Activity(
        work: work, path: FilePath(activity.path), fraction: fraction, bytes: bytes?.done, size: bytes?.size)
    }
  }
}
