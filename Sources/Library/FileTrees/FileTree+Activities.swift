internal import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// Work under way on one file.
  public struct Activity: Sendable, Hashable {
    /// What is done.
    public enum Work: Sendable, Hashable {
      /// It is converted.
      case converting
      /// The messages of a mailbox are looked for.
      case findingMessages
      /// The words of messages are indexed, for searches.
      case indexingWords
    }

    /// What is done.
    public let work: Work
    /// The file, from the root.
    public let path: FilePath
    /// The part that is done, from 0 to 1; nil where that is not known.
    public let fraction: Double?
    /// The part that is done, in bytes; nil for a conversion.
    public let bytes: Int64?
    /// The size of the file, in bytes; nil for a conversion.
    public let size: Int64?
  }

  /// What is being done for those who wait, and ahead of them. Waits for nothing.
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
