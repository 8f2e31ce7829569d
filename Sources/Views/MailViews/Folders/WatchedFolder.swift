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

  /// To be made before the folder is read.
  init(_ folder: any Item) throws(Fault) {
    item = folder
    times = try Self.times(of: folder)
  }

  private static func times(of folder: any Item) throws(Fault) -> [Timestamp] {
    let attributes = try folder.attributes(.blocking)
    return [attributes.modified, attributes.changed]
  }

  /// Whether nothing has changed since.
  func isPresent() throws(Fault) -> Bool {
    if !isSettled { return false }
    return try Self.times(of: item) == times
  }

  /// Notes that the folder was read after `before`. Returns whether it is as it was.
  mutating func settle(_ before: Timestamp) throws(Fault) -> Bool {
    let isSame = try Self.times(of: item) == times
    isSettled = isSame && times.allSatisfy { $0.isPast(at: before) }
    return isSame
  }
}
