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
  /// Apart, because nothing is open of most nodes. Not private: then Swift 6.3 makes a broken module of its users.
  final class State {
    var count = 0
    var real: [any OpenRealFile] = []
    /// What the kernel reads and writes the file by itself with, and the number of open files that have it.
    var lent: (any AnyObject & Sendable)?
    var lentCount = 0
  }

  /// Nil while nothing is open.
  private let state = Mutex<State?>(nil)

  /// The number of open files.
  var count: Int { state.withLock { $0?.count ?? 0 } }

  /// An open real file; nil if there is none.
  var real: (any OpenRealFile)? { state.withLock { $0?.real.first } }

  /// An open real file in a mount that can be written; nil if there is none.
  var held: HeldFile? { real as? HeldFile }

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

  /// Whether `lend` would ask for something to lend.
  var mayBeLent: Bool { state.withLock { $0.map { $0.lent == nil && $0.count == 1 } ?? false } }

  /// Takes over what an earlier process has lent. Returns whether there is anything.
  func takeOver(_ lend: () -> (any AnyObject & Sendable)?) -> Bool {
    state.withLock { state in
      guard let state else { return false }
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
      guard let state else { return nil }
      if state.lent == nil, state.count == 1 { state.lent = lend() }
      if state.lent != nil { state.lentCount += 1 }
      return state.lent
    }
  }
}
