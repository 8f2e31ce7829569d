internal import Bytes
internal import Files
internal import Locks

/// The bytes of an open real file. Its status and descriptor stay available when its names are removed.
protocol OpenRealFile: ByteSource {
  func status() throws(Fault) -> FileStatus
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result
}

extension FileSource: OpenRealFile {}
extension OpenFileDescription: OpenRealFile {}

/// The open files of a node.
struct OpenFiles: ~Copyable, Sendable {
  /// A separate object, because most nodes have no open files. Not private: Swift 6.3 would then emit broken modules
  /// for its clients.
  final class State {
    var count = 0
    var real: [any OpenRealFile] = []
    /// The backing file that the kernel uses, and the number of open files that have it.
    var lent: (any AnyObject & Sendable)?
    var lentCount = 0
  }

  /// The state. `nil` while no file is open.
  private let state = UnfairLock<State?>(nil)

  /// The number of open files.
  var count: Int { state.withLock { $0?.count ?? 0 } }

  /// An open real file. `nil` if there is none.
  var real: (any OpenRealFile)? { state.withLock { $0?.real.first } }

  /// An open real file in a writable mount. `nil` if there is none.
  var held: OpenFileDescription? { real as? OpenFileDescription }

  /// Whether the node is open for writing.
  var isOpenForWriting: Bool {
    state.withLock { state in
      state?.real.contains { ($0 as? OpenFileDescription)?.isOpenForWriting ?? false } ?? false
    }
  }

  func add(_ real: (any OpenRealFile)?) {
    state.withLock { state in
      let present = state ?? State()
      present.count += 1
      if let real { present.real.append(real) }
      state = present
    }
  }

  func remove(_ real: (any OpenRealFile)?, wasLent: Bool) {
    // Released outside the lock.
    let released = state.withLock { state -> (any AnyObject & Sendable)? in
      guard let present = state else { return nil }
      present.count -= 1
      present.real.removeAll { $0 === real }
      if wasLent { present.lentCount -= 1 }
      let lent = present.lent
      if present.lentCount == 0 { present.lent = nil }
      if present.count == 0 { state = nil }
      return lent
    }
    withExtendedLifetime(released) {}
  }

  /// Whether `lend` would call its argument.
  var mayBeLent: Bool { state.withLock { $0.map { $0.lent == nil && $0.count == 1 } ?? false } }

  /// Adopts the backing file of an earlier process. Returns whether there is one.
  func takeOver(_ lend: () -> (any AnyObject & Sendable)?) -> Bool {
    state.withLock { state in
      guard let state else { return false }
      if state.lent == nil { state.lent = lend() }
      if state.lent != nil { state.lentCount += 1 }
      return state.lent != nil
    }
  }

  /// Returns the backing file that the node's open files have, or else the result of `lend`. Returns `nil` if there is
  /// none. `lend` is called with a lock held and must not block.
  ///
  /// The kernel accepts either one backing file for all open files of a node, or none for any.
  func lend(_ lend: () -> (any AnyObject & Sendable)?) -> (any AnyObject & Sendable)? {
    state.withLock { state in
      guard let state else { return nil }
      if state.lent == nil, state.count == 1 { state.lent = lend() }
      if state.lent != nil { state.lentCount += 1 }
      return state.lent
    }
  }
}
