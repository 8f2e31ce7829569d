internal import Bytes
internal import Glibc
public import SystemPackage
internal import Tree

extension FileTree {
  /// A change in a watched folder.
  public struct Change: Sendable, Hashable {
    /// The kinds of changes.
    public enum Kind: Sendable, Hashable {
      /// A file or folder was made in the folder, or moved into it. A file that had the name is replaced.
      case created
      /// The bytes of a file were changed.
      case modified
      /// Permissions, owner, times, extended attributes or the number of names were changed.
      case attributes
      /// A file or folder was removed, or moved out of the folder.
      case removed
      /// A file or folder was renamed within the folder. A file that had the new name is replaced.
      case renamed
      /// More was changed than could be noted: anything in the folder may be different.
      case unknown
    }

    /// The kind of the change.
    public let kind: Kind
    /// The changed file or folder, from the root. The watched folder itself for `unknown`, and for its own attributes.
    public let path: FilePath
    /// The path before. nil unless it was renamed.
    public let oldPath: FilePath?
  }

  /// Starts to watch a real folder. Changes from this call on are noted until they are taken.
  ///
  /// Changes by this tree and by other programs are reported, those of other machines on a network file system are not. Folders
  /// in the folder are not watched. The views of a file change with it, and are not reported.
  ///
  /// - Parameter path: the folder. The root by default.
  /// - Throws: `notFound`, `notADirectory`, `permissionDenied`; `unsupported` for a folder of a view; `noSpace` if the user
  ///   watches more folders than `fs.inotify.max_user_watches`.
  public func watch(_ path: FilePath = "") async throws(FileTreeError) -> Changes {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path)
      let queue = ChangeQueue(path, place.names.last)
      try tree.withFolder(place.node) { (folder) throws(Fault) in try queue.watch(folder) }
      if let name = place.names.last {
        // As long as a process has a removed folder open, nothing but its name tells.
        let (above, _) = try parent(of: place.names)
        try tree.withFolder(above.node) { (folder) throws(Fault) in try queue.watchName(folder) }
        // Removed before that was watched.
        guard try unlessDelayed({ () throws(Fault) in try above.child(name, .blocking) })?.node == place.node else {
          throw Fault(.system(ENOENT))
        }
      }
      try watches.add(queue)
      return Changes(queue, self)
    }
  }

  /// The changes in a watched folder, in order, as they are made.
  ///
  /// The folder is watched until the last reference to this and its iterators is gone, or the tree is closed, which ends the
  /// sequence. Several iterators share the changes: each is given to one of them.
  public struct Changes: AsyncSequence, Sendable {
    /// A change in the folder.
    public typealias Element = Change
    /// The error when the folder is gone, or the task is cancelled.
    public typealias Failure = FileTreeError

    private let queue: ChangeQueue
    private let tree: FileTree

    fileprivate init(_ queue: ChangeQueue, _ tree: FileTree) {
      self.queue = queue
      self.tree = tree
    }

    /// Starts with the first change that is not taken yet.
    public func makeAsyncIterator() -> Iterator { Iterator(queue, tree) }

    /// Changes in order.
    public struct Iterator: AsyncIteratorProtocol {
      private let queue: ChangeQueue
      /// Is not closed as long as this is used.
      private let tree: FileTree

      fileprivate init(_ queue: ChangeQueue, _ tree: FileTree) {
        self.queue = queue
        self.tree = tree
      }

      /// Returns the next change. Returns nil when the tree is closed.
      ///
      /// - Throws: `directoryNotFound` when the folder is removed or renamed, and `cancelled`.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws(FileTreeError) -> Change? {
        try await queue.next(isolation: actor)
      }

      /// Returns the next change. Returns nil when the tree is closed.
      public mutating func next() async throws(FileTreeError) -> Change? { try await next(isolation: nil) }
    }
  }
}
