public import Bytes
internal import Files
internal import Locks
internal import Synchronization

extension Tree {
  /// An open file.
  ///
  /// It survives changes of its source as long as its bytes stay the same.
  public final class OpenFile: Sendable {
    let tree: Tree
    let node: Node
    private let real: (any OpenRealFile)?
    /// The revision of a real file's bytes when it was opened, comparable with `presentRevision`.
    public let openedRevision: UInt64
    /// The real file in a writable mount. `nil` for any other file.
    let held: OpenFileDescription?
    /// The file on which locks are set if this file is not real, and the descriptor from which it was opened.
    let stand = UnfairLock<(file: OpenFileDescription, base: LockDescriptor)?>(nil)
    private let current: UnfairLock<any ByteSource>
    /// Whether the kernel reads and writes the backing file directly.
    let isLent = Atomic<Bool>(false)
    /// Checksums of bytes read from a file that is identified only by recorded properties, such as the size and CRC of
    /// an entry.
    private let given: UnfairLock<DeliveredChecksums>?
    /// Whether the size in the kernel's cache may stay an estimate while the file is open.
    public let hasOpenEnd: Bool
    /// Whether the kernel's cached pages are still valid.
    public let keepsCache: Bool
    /// Whether the kernel has to request the file's attributes again before `open` returns.
    public let changesAttributes: Bool
    /// The attributes when the file was opened. `nil` for a file that cannot change.
    public let attributes: Attributes?

    init(
      _ tree: Tree, _ node: Node, _ source: any ByteSource, revision: UInt64, keepsCache: Bool,
      changesAttributes: Bool, _ attributes: Attributes? = nil, held: OpenFileDescription? = nil
    ) {
      openedRevision = revision
      self.attributes = attributes
      self.tree = tree
      self.node = node
      self.held = held
      self.keepsCache = keepsCache
      current = UnfairLock(source)
      given = node.item.claimsItsContent ? UnfairLock(DeliveredChecksums()) : nil
      hasOpenEnd = !source.hasKnownSize || node.face.isConcealed
      self.changesAttributes = changesAttributes
      let isOwn = node.identity.content == nil || held?.staged != nil
      real = isOwn ? source as? any OpenRealFile : nil
      node.opened.add(real)
    }

    deinit {
      let wasLent = isLent.load(ordering: .relaxed)
      // Before the backing file is unregistered: the next process uses each recorded one.
      if wasLent { held?.entry?.setLent(nil) }
      node.opened.remove(real, wasLent: wasLent)
    }

    /// The node ID. Another node may have it once the kernel has forgotten this one, even while the file is still open.
    public var id: UInt64 { UInt64(node.id) }

    /// The node's generation, which no other node of the mount ever has.
    public var generation: UInt64 { node.generation }

    /// Whether it is a file of the source.
    public var isReal: Bool { real != nil && held?.staged == nil }

    /// The identifier of the current state of a real file's bytes and attributes. `nil` if unknown. May block if
    /// `isDistant`.
    public var presentRevision: UInt64? {
      guard let status = try? real?.status() else { return nil }
      return node.item.revision(Attributes(status, inode: node.inode))
    }

    /// Whether a real file is on a file system of another machine or process, which does not report changes. True if
    /// unknown.
    public var isDistant: Bool {
      guard let real, let status = try? real.status() else { return true }
      return (try? real.withDescriptor { (descriptor) throws(Fault) in status.isDistant(descriptor) }) ?? true
    }

    /// Calls `body` with a real file's descriptor. Returns `nil` if there is none.
    public func withDescriptor<Result>(_ body: (Int32) -> Result?) -> Result? {
      guard let real else { return nil }
      return (try? real.withDescriptor { (descriptor) throws(Fault) in body(descriptor) }) ?? nil
    }

    /// The path below the mountpoint, with the names that the kernel knows.
    public var pathBytes: [UInt8] { node.pathBytes }

    /// The bytes of the state that was last read.
    public var source: any ByteSource { current.withLock { $0 } }

    /// Calls `body` with the file's bytes. If the source has changed, uses the bytes of its new state. Throws ESTALE if
    /// these differ from the bytes read so far.
    public func reading<Result>(
      _ blocking: BlockingMode, _ body: (any ByteSource) throws(Fault) -> Result
    ) throws(Fault) -> Result {
      do throws(Fault) { return try body(source) } catch {
        guard error.isOfEarlierState, node.item.content != nil else { throw error }
      }
      return try tree.present(node, isDoubted: true, blocking) { (item) throws(Fault) in
        let again = try item.openAgain(blocking)
        if let parts = given?.withLock({ $0 }) { try parts.check(again, blocking) }
        // The previous source is released outside the lock.
        _ = current.withLock { source in
          defer { source = again }
          return source
        }
        return try body(again)
      }
    }

    /// Records bytes that are about to be returned from `source`. Throws ESTALE if the file is now read from another
    /// source that has different bytes there.
    public func note(
      _ bytes: UnsafeRawBufferPointer, at offset: Int64, of source: any ByteSource, _ blocking: BlockingMode
    ) throws(Fault) {
      guard given != nil, unsafe !bytes.isEmpty else { return }
      let part = unsafe DeliveredChecksums.Part(bytes, at: offset)
      given?.withLock { $0.add(part) }
      let present = self.source
      if present !== source { try part.check(present, blocking) }
    }

    /// Records bytes that are returned as an extent and bypass this process. Reads them.
    public func noteUnseen(
      at offset: Int64, count: Int, of source: any ByteSource, _ blocking: BlockingMode
    ) throws(Fault) {
      guard given != nil else { return }
      let bytes = try source.bytes(at: offset, count: count, blocking)
      let failure: Fault? = unsafe bytes.withUnsafeBytes { buffer in
        do throws(Fault) { unsafe try note(buffer, at: offset, of: source, blocking) } catch { return error }
        return nil
      }
      if let failure { throw failure }
    }
  }
}
