public import Bytes
internal import Synchronization

extension Tree {
  /// A file that is open.
  ///
  /// It outlives changes of its source, as long as its bytes stay the same.
  public final class OpenFile: Sendable {
    private let tree: Tree
    private let node: Node
    private let held: Mutex<any ByteSource>
    /// Whether the size that the kernel was told is a guess, and stays one.
    public let hasOpenEnd: Bool
    /// Whether the kernel's cached pages are still this file's.
    public let keepsCache: Bool
    /// Whether the kernel has to forget the file's attributes before it learns that the file is open.
    public let changesAttributes: Bool

    init(_ tree: Tree, _ node: Node, _ source: any ByteSource, keepsCache: Bool) {
      self.tree = tree
      self.node = node
      self.keepsCache = keepsCache
      held = Mutex(source)
      hasOpenEnd = !source.hasKnownSize || node.face.isConcealed
      changesAttributes = node.hasPreliminary.load(ordering: .relaxed)
      node.openings.add(1, ordering: .relaxed)
    }

    deinit { node.openings.subtract(1, ordering: .relaxed) }

    /// The node's number.
    public var id: UInt64 { UInt64(node.id) }

    /// The bytes of the state that was read from last.
    public var source: any ByteSource { held.withLock { $0 } }

    /// Reads of the file; when its source has changed meanwhile, from what has the same bytes there now. Throws ESTALE when
    /// nothing has.
    public func reading<Result>(
      _ patience: Patience, _ body: (any ByteSource) throws(Fault) -> Result
    ) throws(Fault) -> Result {
      do throws(Fault) { return try body(source) } catch {
        guard error.isOfEarlierState, node.item.content != nil else { throw error }
      }
      return try tree.present(node, isDoubted: true, patience) { (item) throws(Fault) in
        let again = try item.openAgain(patience)
        let result = try body(again)
        // What was there is let go without the lock.
        _ = held.withLock { source in
          defer { source = again }
          return source
        }
        return result
      }
    }
  }
}
