internal import Bytes
internal import Files
internal import Glibc
internal import Locks

/// A conversion result that is read while it is made.
///
/// Reads past the available bytes wait. The conversion runs while this object exists.
final class GrowingRendition: ByteSource {
  private let file: TemporaryFile
  private let source: any ByteSource
  let identity: ByteIdentity?
  /// Whether `announced` is the exact size.
  private let isMeasured: Bool
  private let announced: Int64
  private let state: UnfairLock<State>
  /// Called when the last reader is gone.
  private let left: @Sendable () -> Void

  private struct State {
    /// The number of readable bytes.
    var count: Int64
    var end: End?
    /// The next growth, for reads past the available bytes.
    var growth = SharedOperation {}
  }

  private enum End {
    case whole
    case failed(Fault)
  }

  /// Creates a result of which `count` bytes can be read.
  ///
  /// - Parameters:
  ///   - size: The exact size in bytes, or a generous estimate unless `isMeasured`.
  ///   - source: The source of the conversion.
  init(
    _ file: TemporaryFile, count: Int64, size: Int64, isMeasured: Bool, of source: any ByteSource,
    identity: ByteIdentity?, left: @escaping @Sendable () -> Void
  ) {
    self.file = file
    self.source = source
    self.identity = identity
    self.isMeasured = isMeasured
    self.left = left
    announced = size
    state = UnfairLock(State(count: count))
  }

  deinit { left() }

  var size: Int64 {
    if isMeasured { return announced }
    return state.withLock { state in
      // A result larger than the estimate may become even larger.
      state.end == nil ? max(announced, state.count + 1 << 20) : state.count
    }
  }

  var hasKnownSize: Bool { isMeasured || state.withLock { $0.end != nil } }

  func findSize(_ blocking: BlockingMode) throws(Fault) {
    let growth = try state.withLock { (state) throws(Fault) -> SharedOperation? in
      if case .failed(let fault) = state.end { throw fault }
      return state.end == nil ? state.growth : nil
    }
    if let growth { throw Fault(.pending(growth)) }
  }

  func verify() throws(Fault) { try source.verify() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, Bounds.holds(offset) else { return 0 }
    let wanted = Int64(buffer.count)
    let there = try state.withLock { (state) throws(Fault) -> Int64 in
      if offset + wanted <= state.count { return wanted }
      switch state.end {
      case .failed(let fault): throw fault
      case .whole: return min(wanted, max(0, state.count - offset))
      case nil:
        // Without a known size, readers accept short reads.
        if !isMeasured, offset < state.count { return state.count - offset }
        throw Fault(.pending(state.growth))
      }
    }
    unsafe try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(there)]), at: offset)
    return Int(there)
  }

  /// Records the number of readable bytes.
  func grow(to count: Int64) {
    let grown = state.withLock { state -> SharedOperation? in
      guard count > state.count, state.end == nil else { return nil }
      state.count = count
      defer { state.growth = SharedOperation {} }
      return state.growth
    }
    grown?.finish()
  }

  /// Records that the result is complete.
  func finish(size: Int64) {
    guard !isMeasured || size == announced else {
      return fail(Fault(.system(EIO), "its conversion has \(size) bytes instead of the announced \(announced)"))
    }
    end(.whole, size)
  }

  /// Records that the conversion failed. The available bytes stay readable.
  func fail(_ fault: Fault) { end(.failed(fault), nil) }

  private func end(_ end: End, _ size: Int64?) {
    let growth = state.withLock { state -> SharedOperation in
      state.end = end
      if let size { state.count = size }
      return state.growth
    }
    growth.finish()
  }
}
