internal import Bytes
internal import Files
internal import Locks

/// The readers and waiters of a result that can be read before it is complete. Creates the `GrowingRendition` when the
/// first bytes are available.
final class ResultStream: Sendable {
  /// The part of a result that a caller waits for.
  enum Want: Sendable {
    case beginning
    case whole
  }

  private let state = UnfairLock(State())
  /// The size of the result, if it is known beforehand.
  private let measured: Int64?
  private let guess: Int64
  private let source: any ByteSource
  private let identity: ByteIdentity?
  /// Called when no readers and waiters are left.
  private let unwanted: @Sendable () -> Void

  private struct State {
    weak var rendition: GrowingRendition?
    /// The operation that callers share while they wait for the first bytes.
    var beginning: SharedOperation?
    var wants: Set<Want> = []
    var readers = 0

    var isWanted: Bool { !wants.isEmpty || readers > 0 }
  }

  /// Creates a stream. `guess` is an estimate in bytes, used if `measured` is `nil`.
  init(
    of source: any ByteSource, measured: Int64?, guess: Int64, identity: ByteIdentity?,
    unwanted: @escaping @Sendable () -> Void
  ) {
    self.source = source
    self.measured = measured
    self.guess = guess
    self.identity = identity
    self.unwanted = unwanted
  }

  /// The readable result. `nil` before the first bytes, and while it has no readers.
  var rendition: GrowingRendition? { state.withLock { $0.rendition } }

  /// Returns the operation that ends when the first bytes can be read.
  func waitForBeginning() -> SharedOperation {
    state.withLock { state in
      state.wants.insert(.beginning)
      if let beginning = state.beginning { return beginning }
      let beginning = SharedOperation { [weak self] in self?.leave(.beginning) }
      state.beginning = beginning
      return beginning
    }
  }

  func join(_ want: Want) { state.withLock { _ = $0.wants.insert(want) } }

  func leave(_ want: Want) { leave { $0.wants.remove(want) } }

  private func leave(_ body: (inout State) -> Void) {
    let isWanted = state.withLock { state in
      body(&state)
      return state.isWanted
    }
    if !isWanted { unwanted() }
  }

  /// Records the number of readable bytes of the output.
  func grow(_ file: TemporaryFile, to count: Int64) {
    guard count > 0 else { return }
    if let rendition { return rendition.grow(to: count) }
    let (rendition, beginning) = state.withLock { state -> (GrowingRendition?, SharedOperation?) in
      guard let beginning = state.beginning else { return (nil, nil) }
      let rendition = GrowingRendition(
        file, count: count, size: measured ?? guess, isMeasured: measured != nil, of: source, identity: identity
      ) { [self] in leave { $0.readers -= 1 } }
      state.rendition = rendition
      state.beginning = nil
      state.wants.remove(.beginning)
      state.readers += 1
      return (rendition, beginning)
    }
    beginning?.finish(with: rendition)
  }

  /// Records that the result is complete.
  func finish(size: Int64) { end { $0.finish(size: size) } }

  /// Records that the conversion failed.
  func fail(_ fault: Fault) { end { $0.fail(fault) } }

  private func end(_ body: (GrowingRendition) -> Void) {
    let (rendition, beginning) = state.withLock { state in
      defer { state.beginning = nil }
      return (state.rendition, state.beginning)
    }
    rendition.map(body)
    beginning?.finish()
  }
}
