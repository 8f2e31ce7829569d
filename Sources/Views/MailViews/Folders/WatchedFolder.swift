internal import Bytes
internal import Files
internal import Tree

/// A folder that was read, with the times that it then had: what comes, goes or is renamed in it changes them.
struct WatchedFolder: Sendable {
  let item: any Item
  /// mtime and ctime.
  let times: [Timestamp]
  /// Whether any later change shows in the times.
  private(set) var isSettled = false
  /// Changes of the files in it; nil if they are not noted.
  private let watch: ChangeWatch?

  /// To be made before the folder is read.
  ///
  /// - Parameter notesFiles: whether changes of its files are noted, where the kernel tells of them.
  init(_ folder: any Item, notesFiles: Bool = false) throws(Fault) {
    item = folder
    watch = notesFiles ? (folder as? RealFolder)?.watchChanges() : nil
    times = try Self.times(of: folder)
  }

  private static func times(of folder: any Item) throws(Fault) -> [Timestamp] {
    let attributes = try folder.attributes(.blocking)
    return [attributes.modified, attributes.changed]
  }

  /// The files that have changed since.
  var changes: ChangeWatch.Changes { watch?.changes ?? .named([]) }
  /// Whether there are any.
  var hasChanges: Bool { watch?.hasChanges ?? false }

  /// Whether nothing has changed since.
  func isPresent() throws(Fault) -> Bool {
    if !isSettled || hasChanges { return false }
    return try Self.times(of: item) == times
  }

  /// Notes that the folder was read after `before`. Returns whether it is as it was.
  mutating func settle(_ before: Timestamp) throws(Fault) -> Bool {
    let isSame = try Self.times(of: item) == times
    isSettled = isSame && times.allSatisfy { $0.isPast(at: before) }
    return isSame
  }
}
