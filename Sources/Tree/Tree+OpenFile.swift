public import Bytes
internal import Synchronization

extension Tree {
  /// An open file.
  ///
  /// It survives changes of its source, as long as its bytes stay the same.
  public final class OpenFile: Sendable {
    let tree: Tree
    let node: Node
    /// A real file in a mount that can be written.
    let held: HeldFile?
    /// What locks are set on if it is not real, with what it was opened from.
    let stand = Mutex<(file: HeldFile, base: HeldLock)?>(nil)
    private let current: Mutex<any ByteSource>
    /// What others read and write the file by.
    let lent = Mutex<(any AnyObject & Sendable)?>(nil)
    /// Checksums of bytes read from a file whose identity is only recorded, as an entry's is by size and CRC.
    private let given: Mutex<GivenBytes>?
    /// Whether the size that the kernel was told is a permanent estimate.
    public let hasOpenEnd: Bool
    /// Whether the kernel's cached pages are still valid.
    public let keepsCache: Bool
    /// Whether the kernel has to ask for the file's attributes again before it learns that the file is open.
    public let changesAttributes: Bool
    /// The attributes when it was opened; nil for what cannot change, whose were never others.
    public let attributes: Attributes?

    init(
      _ tree: Tree, _ node: Node, _ source: any ByteSource, keepsCache: Bool, changesAttributes: Bool,
      _ attributes: Attributes? = nil, held: HeldFile? = nil
    ) {
      self.attributes = attributes
      self.tree = tree
      self.node = node
      self.held = held
      self.keepsCache = keepsCache
      current = Mutex(source)
      given = node.item.claimsItsContent ? Mutex(GivenBytes()) : nil
      hasOpenEnd = !source.hasKnownSize || node.face.isConcealed
      self.changesAttributes = changesAttributes
      node.openings.add(1, ordering: .relaxed)
    }

    deinit { node.openings.subtract(1, ordering: .relaxed) }

    /// The node id. Another node may have it as soon as the kernel has forgotten this one, even while this is open here.
    public var id: UInt64 { UInt64(node.id) }

    /// The node's generation, which no other node of the mount ever has.
    public var generation: UInt64 { node.generation }

    /// The bytes of the state that was last read from.
    public var source: any ByteSource { current.withLock { $0 } }

    /// Calls `body` with the file's bytes; if the source has changed, with those of its new state, if they are the same
    /// so far. Throws ESTALE if they are not.
    public func reading<Result>(
      _ patience: Patience, _ body: (any ByteSource) throws(Fault) -> Result
    ) throws(Fault) -> Result {
      do throws(Fault) { return try body(source) } catch {
        guard error.isOfEarlierState, node.item.content != nil else { throw error }
      }
      return try tree.present(node, isDoubted: true, patience) { (item) throws(Fault) in
        let again = try item.openAgain(patience)
        if let parts = given?.withLock({ $0 }) { try parts.check(again, patience) }
        // The previous source is released outside the lock.
        _ = current.withLock { source in
          defer { source = again }
          return source
        }
        return try body(again)
      }
    }

    /// Records bytes that are about to be returned from `source`; throws ESTALE if the file is read from another source
    /// by now, with other bytes there.
    public func note(
      _ bytes: UnsafeRawBufferPointer, at offset: Int64, of source: any ByteSource, _ patience: Patience
    ) throws(Fault) {
      guard given != nil, unsafe !bytes.isEmpty else { return }
      let part = unsafe GivenBytes.Part(bytes, at: offset)
      given?.withLock { $0.add(part) }
      let present = self.source
      if present !== source { try part.check(present, patience) }
    }

    /// Records bytes that are returned by extent, bypassing this process. Reads them.
    public func noteUnseen(
      at offset: Int64, count: Int, of source: any ByteSource, _ patience: Patience
    ) throws(Fault) {
      guard given != nil else { return }
      let bytes = try source.bytes(at: offset, count: count, patience)
      let failure: Fault? = unsafe bytes.withUnsafeBytes { buffer in
        do throws(Fault) { unsafe try note(buffer, at: offset, of: source, patience) } catch { return error }
        return nil
      }
      if let failure { throw failure }
    }
  }
}
