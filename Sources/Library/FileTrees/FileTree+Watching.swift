package import Bytes
internal import Glibc
public import SystemPackage
package import Tree

extension FileTree {
  /// A change in a watched directory.
  public struct Change: Sendable, Hashable {
    /// The kinds of changes.
    public enum Kind: Sendable, Hashable {
      /// A file or directory was created in the directory, or moved into it. A file with the same name was replaced.
      case created
      /// The bytes of a file were changed.
      case modified
      /// Permissions, owner, times, extended attributes or the number of names were changed.
      case attributes
      /// A file or directory was removed, or moved out of the directory.
      case removed
      /// A file or directory was renamed within the directory. A file with the new name was replaced.
      case renamed
      /// Too many changes to record. Anything in the directory may be different.
      case unknown
    }

    /// The kind of the change.
    public let kind: Kind
    /// The path of the changed item, from the root. The watched directory itself for `unknown`, and for its own
    /// attributes.
    public let path: FilePath
    /// The previous path. `nil` unless the item was renamed.
    public let oldPath: FilePath?
  }

  /// Starts to watch a real directory. Changes are recorded from this call on until they are read.
  ///
  /// Changes by this tree and by other programs are reported. Those made by other machines on a network file system are
  /// not. Subdirectories are not watched. The views of a file change with it, and are not reported.
  ///
  /// - Parameter path: The directory. The root by default.
  /// - Throws: `notFound`, `notADirectory`, `permissionDenied`; `unsupported` for a directory in a view; `noSpace` if
  ///   the user watches more directories than `fs.inotify.max_user_watches`.
  public func watch(_ path: FilePath = "") async throws(FileTreeError) -> Changes {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path)
      let queue = ChangeQueue(path, place.names.last)
      try begin(queue, place)
      return Changes(queue, self)
    }
  }

  /// Watches a real directory as `watch(_:)` does, until the result is released. Blocks.
  ///
  /// - Parameter announce: Called after changes, on the thread that receives notifications. Items with temporary names
  ///   are left out.
  package func watch(
    _ place: ResolvedPath, announce: @escaping @Sendable () -> Void
  ) throws(Fault) -> any AnyObject & Sendable {
    let queue = ChangeQueue(FilePath(place.names), place.names.last, announce: announce)
    try begin(queue, place)
    return queue
  }

  private func begin(_ queue: ChangeQueue, _ place: ResolvedPath) throws(Fault) {
    try tree.withFolder(place.node) { (folder) throws(Fault) in try queue.watch(folder) }
    if let name = place.names.last {
      // If a process has the removed directory open, only the removal of its name causes an event.
      let (above, _) = try parent(of: place.names)
      try tree.withFolder(above.node) { (folder) throws(Fault) in try queue.watchName(folder) }
      // The directory was removed before its name was watched.
      guard try unlessDelayed({ () throws(Fault) in try above.child(name, .blocking) })?.node == place.node else {
        throw Fault(.system(ENOENT))
      }
    }
    try watches.add(queue)
  }

  /// The changes in a watched directory, in order.
  ///
  /// The directory is watched until the last reference to this and its iterators is released, or the tree is closed,
  /// which ends the sequence. Several iterators share the changes: each change is returned by one of them.
  public struct Changes: AsyncSequence, Sendable {
    /// A change in the directory.
    public typealias Element = Change
    /// The error if the directory is gone, or the task is cancelled.
    public typealias Failure = FileTreeError

    private let queue: ChangeQueue
    private let tree: FileTree

    fileprivate init(_ queue: ChangeQueue, _ tree: FileTree) {
      self.queue = queue
      self.tree = tree
    }

    /// Returns an iterator that starts with the first change that has not been read.
    public func makeAsyncIterator() -> Iterator { Iterator(queue, tree) }

    /// An iterator over the changes, in order.
    public struct Iterator: AsyncIteratorProtocol {
      private let queue: ChangeQueue
      /// Kept so that the tree is not closed.
      private let tree: FileTree

      fileprivate init(_ queue: ChangeQueue, _ tree: FileTree) {
        self.queue = queue
        self.tree = tree
      }

      /// Returns the next change. Returns `nil` when the tree is closed.
      ///
      /// - Throws: `directoryNotFound` when the directory is removed or renamed, and `cancelled`.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws(FileTreeError) -> Change? {
        try await queue.next(isolation: actor)
      }

      /// Returns the next change. Returns `nil` when the tree is closed.
      public mutating func next() async throws(FileTreeError) -> Change? { try await next(isolation: nil) }
    }
  }
}
