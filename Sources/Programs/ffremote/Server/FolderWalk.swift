import Bytes
import Locks
import ServerAnswers

/// The listings of folders of a bucket from few requests for objects at any depth, while a program such as `find` asks for
/// one folder after the other in the order of their paths.
final class FolderWalk: Sendable {
  private struct State: Sendable {
    /// The last folder that was asked for, as the start of the keys in it.
    var asked: [UInt8] = []
    /// The number of folders that were asked for in their order.
    var run = 0
    var walk: KeyWalk?
    /// The mark of the next page.
    var mark: String?
    var isUnderWay = false
    /// The time of the last page, in nanoseconds.
    var at: UInt64 = 0
    /// Whether the server has turned out not to sort its keys.
    var isOff = false
  }

  let bucket: S3Folder
  private let state = UnfairLock(State())

  init(_ bucket: S3Folder) { self.bucket = bucket }

  /// The number of listings in order after which the next one is likely to follow.
  private static let longEnough = 3
  /// The time for which a walk can be continued, in nanoseconds: its folders have entries of several pages.
  private static let lifetime: UInt64 = 2_000_000_000

  /// A page of files, in the order of their paths.
  struct Page: Sendable {
    /// The path after which the files are, without a slash at the start.
    let start: [UInt8]
    /// The mark that the page before it had. Nil for the first page.
    let mark: String?
  }

  /// Returns the first page to request for a folder. Returns `nil` if its listing is better requested by itself.
  func page(for path: [UInt8]) -> Page? {
    let key = path.dropFirst() + [UInt8(ascii: "/")]
    return state.withLock { state in
      if state.isOff || state.isUnderWay { return nil }
      state.run = state.asked.lexicographicallyPrecedes(key) ? state.run + 1 : 0
      state.asked = Array(key)
      if state.walk?.count(of: path) == nil || HTTPClient.now > state.at + Self.lifetime {
        (state.walk, state.mark) = (state.run >= Self.longEnough ? KeyWalk(at: path) : nil, nil)
      }
      guard let walk = state.walk else { return nil }
      state.isUnderWay = true
      return Page(start: walk.last, mark: state.mark)
    }
  }

  /// The consequence of a page: the folders that are complete now, and the next page if it has more entries of the
  /// folder that was asked for. Without both, that folder is too large to be read in this way.
  struct Step {
    let folders: [KeyWalk.Folder]
    var next: Page?
  }

  /// Adds a page that was requested for a folder.
  func add(
    _ files: [(key: [UInt8], item: ServerItem)], next: String?, for path: [UInt8]
  ) throws(Fault) -> Step {
    let result = state.withLock { state in
      Result { () throws(Fault) -> Step in
        guard var walk = state.walk.take() else { throw .interrupted }
        let before = walk.count(of: path)
        var step = Step(folders: try walk.add(files, isLastPage: next == nil))
        if let next, let count = walk.count(of: path), count != before {
          step.next = Page(start: walk.last, mark: next)
        }
        state.isUnderWay = step.next != nil
        if let next, step.next != nil || step.folders.contains(where: { $0.path == path }) {
          (state.walk, state.mark, state.at) = (walk, next, HTTPClient.now)
        } else {
          state.run = 0
        }
        return step
      }
    }
    return try result.get()
  }

  /// Ends the walk because of a failed or cancelled request.
  func stop(forGood: Bool = false) {
    state.withLock { state in
      (state.walk, state.run, state.isUnderWay) = (nil, 0, false)
      if forGood { state.isOff = true }
    }
  }
}
