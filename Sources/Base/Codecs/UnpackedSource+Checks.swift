public import Bytes
internal import Synchronization
internal import Threads

extension UnpackedSource {
  /// Throws if a range is in a damaged part. Compares the checksums of its parts before, as far as these are short and
  /// the file tells where they end.
  func check(_ range: Range<Int64>, _ patience: Patience) throws(Fault) {
    if showsDamage { return }
    if !state.withLock({ $0.isLoaded }) {
      if patience == .immediate { throw .later }
      try load()
    }
    while let part = state.withLock({ state in
      state.openPart(in: range.clamped(to: 0..<(state.end?.size ?? 0)), atMost: Self.longestPart)
    }) {
      try refuse(range.lowerBound..<max(range.lowerBound, part.lowerBound))
      if patience == .immediate { throw .later }
      try decode(part)
    }
    try refuse(range)
  }

  func refuse(_ range: Range<Int64>) throws(Fault) {
    if !showsDamage, let damage = state.withLock({ $0.checks.damage(in: range) }) { throw damage.refusal }
  }

  /// Decodes a part, so that its checksum is compared. What others have done of it already is not done again.
  private func decode(_ part: Range<Int64>) throws(Fault) {
    let claim = try PartClaim(of: part.upperBound, in: claimed)
    defer { withExtendedLifetime(claim) {} }
    func isOpen() -> Bool { state.withLock { $0.checks.firstOpen(in: part) != nil } }
    guard isOpen() else { return }
    let cursor = try cursor(in: part)
    do throws(Fault) {
      while isOpen() {
        try Interest.check()
        let start = cursor.position
        guard let bytes = try advance(cursor, until: .max) else { break }
        if start % Self.length == 0, Int64(bytes.count) == Self.length || cursor.isOver {
          stretches.insert(Chunk(bytes), at: start / Self.length)
        }
      }
    } catch {
      if error.isDelay { giveBack(cursor) }
      throw error
    }
    giveBack(cursor)
    // Never to be tried again without end.
    if isOpen() { fail(part, Fault(.damaged, "expected parts of other sizes")) }
  }

  /// Compares what checksums there are after a reading from front to back that has skipped nothing long: of all parts,
  /// if the file does not tell of them, otherwise of long ones of which most has been decoded. Blocks.
  public func finishChecks() throws(Fault) {
    guard state.withLock({ $0.table != nil }) else { return try findSize(.blocking) }
    while let part = state.withLock({ $0.begunPart }) {
      try decode(part)
    }
  }

  /// Compares the checksums of all parts, and finds whether the file ends where it should. Blocks.
  public func finishAllChecks() throws(Fault) {
    try findSize(.blocking)
    while let part = state.withLock({ $0.openPart(in: 0..<($0.end?.size ?? 0), atMost: .max) }) { try decode(part) }
  }

  /// Regards bytes as damaged that precede an early end, after a reader has found what they hold to be so.
  public func distrustEnd() {
    guard let end = state.withLock({ $0.end }), let fault = end.fault, fault.kind == .damaged else { return }
    while let start = state.withLock({ $0.checks.firstOpen(in: 0..<end.size) }) { fail(start..<end.size, fault) }
  }

  public func assurance(of range: Range<Int64>) -> Assurance {
    state.withLock { state in
      // Bytes behind an early end cannot be decoded.
      if let end = state.end, let fault = end.fault, range.upperBound > end.size { return .damaged(fault) }
      let range = range.clamped(to: 0..<max(0, state.end?.size ?? .max))
      if let damage = state.checks.damage(in: range) { return showsDamage ? .open : .damaged(damage.refusal) }
      guard state.checks.firstOpen(in: range) == nil else { return .open }
      return packing.hasChecksum ? .checked : .none
    }
  }

  /// The first damage, for a message on all of it. Nil if none is known.
  public var damage: Fault? { state.withLock { $0.checks.damages.first?.refusal } }

  /// The content whatever its checksums say, for headers that have their own.
  public var unchecked: any ByteSource { UncheckedContent(self) }
}

extension PartChecks.Damage {
  fileprivate var refusal: Fault {
    let bytes = "bytes \(range.lowerBound) to \(range.upperBound) of the decompressed data are damaged"
    return Fault(.damaged, "\(bytes): \(fault.reason) (-o damaged=show)", atByte: fault.offset)
  }
}

extension Packing {
  /// Whether files of the format usually have checksums.
  fileprivate var hasChecksum: Bool {
    switch self {
    case .gzip, .bzip2, .xz, .zstd, .lz4, .lzip: true
    case .lzma, .compress, .brotli: false
    }
  }
}

/// The content of a compressed file, with what does not agree with its checksum.
private final class UncheckedContent: ByteSource {
  private let content: UnpackedSource

  init(_ content: UnpackedSource) { self.content = content }

  var size: Int64 { content.size }
  var hasKnownSize: Bool { content.hasKnownSize }
  var identity: ByteIdentity? { content.identity }
  var isSettling: Bool { content.isSettling }
  func findSize(_ patience: Patience) throws(Fault) { try content.findSize(patience) }
  func verify() throws(Fault) { try content.verify() }
  func assurance(of range: Range<Int64>) -> Assurance { content.assurance(of: range) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    unsafe try content.readUnchecked(into: buffer, at: offset, patience)
  }
}
