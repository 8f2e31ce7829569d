internal import Bytes
internal import Files
internal import Synchronization

/// A real file whose state is known while it is open, whatever becomes of its names.
protocol OpenRealFile: ByteSource {
  func status() throws(Fault) -> FileStatus
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result
}

extension FileSource: OpenRealFile {}
extension HeldFile: OpenRealFile {}

/// What is open of a node.
struct OpenFiles: ~Copyable, Sendable {
  // Not private: the compiler of Swift 6.3 cannot use a private type from another file here.
  struct State {
    var count = 0
    var real: [any OpenRealFile] = []
    /// What the kernel reads and writes the file by itself with, and the number of open files that have it.
    var lent: (any AnyObject & Sendable)?
    var lentCount = 0
  }

  private let state = Mutex(State())

  /// The number of open files.
  var count: Int { state.withLock { $0.count } }

  /// An open real file; nil if there is none.
  var real: (any OpenRealFile)? { state.withLock { $0.real.first } }

  /// An open real file in a mount that can be written; nil if there is none.
  var held: HeldFile? { real as? HeldFile }

  func add(_ real: (any OpenRealFile)?) {
    state.withLock { state in
      state.count += 1
      if let real { state.real.append(real) }
    }
  }

  func remove(_ real: (any OpenRealFile)?, wasLent: Bool) {
    // Released outside the lock.
    let released = state.withLock { state -> (any AnyObject & Sendable)? in
      state.count -= 1
      state.real.removeAll { $0 === real }
      guard wasLent else { return nil }
      state.lentCount -= 1
      guard state.lentCount == 0 else { return nil }
      defer { state.lent = nil }
      return state.lent
    }
    withExtendedLifetime(released) {}
  }

  /// Takes over what an earlier process has lent. Returns whether there is anything.
  func takeOver(_ lend: () -> (any AnyObject & Sendable)?) -> Bool {
    state.withLock { state in
      if state.lent == nil { state.lent = lend() }
      if state.lent != nil { state.lentCount += 1 }
      return state.lent != nil
    }
  }

  /// What the kernel has of the file for those who have it open, or else what `lend` returns; nil if it has nothing. `lend` is
  /// called with a lock held, and must not wait.
  ///
  /// The kernel takes either the same for all who have a node open at a time, or nothing for any.
  func lend(_ lend: () -> (any AnyObject & Sendable)?) -> (any AnyObject & Sendable)? {
    state.withLock { state in
      if state.lent == nil, state.count == 1 { state.lent = lend() }
      if state.lent != nil { state.lentCount += 1 }
      return state.lent
    }
  }
}
