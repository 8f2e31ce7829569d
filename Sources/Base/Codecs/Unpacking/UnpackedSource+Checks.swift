public import Bytes
internal import Locks
internal import Threads

extension UnpackedSource {
  /// Throws if a range is in a damaged part. First compares the checksums of the parts in it, if the file records where
  /// they end and they are short.
  func check(_ range: Range<Int64>, _ blocking: BlockingMode) throws(Fault) {
    if showsDamage { return }
    if !state.withLock({ $0.isLoaded }) {
      if blocking == .immediate { throw .later }
      try load()
    }
    while let part = state.withLock({ state in
      state.openPart(in: range.clamped(to: 0..<(state.end?.size ?? 0)), atMost: Self.longestPart)
    }) {
      try refuse(range.lowerBound..<max(range.lowerBound, part.lowerBound))
      if blocking == .immediate { throw .later }
      try decode(part)
    }
    try refuse(range)
  }

  func refuse(_ range: Range<Int64>) throws(Fault) {
    if !showsDamage, let damage = state.withLock({ $0.checks.damage(in: range) }) { throw damage.refusal }
  }

  /// Decodes a part to compare its checksum. Continues from the progress of other threads.
  private func decode(_ part: Range<Int64>) throws(Fault) {
    let claim = try PartClaim(of: part.upperBound, in: claimed)
    defer { withExtendedLifetime(claim) {} }
    func isOpen() -> Bool { state.withLock { $0.checks.firstOpen(in: part) != nil } }
    guard isOpen() else { return }
    let cursor = try cursor(in: part)
    do throws(Fault) {
      while isOpen() {
        try CancellationToken.check()
        let start = cursor.position
        guard let bytes = try advance(cursor, until: .max) else { break }
        if start % Self.length == 0, Int64(bytes.count) == Self.length || cursor.isOver {
          stretches.insert(CachedBlock(bytes), at: start / Self.length)
        }
      }
    } catch {
      if error.isDelay { giveBack(cursor) }
      throw error
    }
    giveBack(cursor)
    // Prevents endless retries.
    if isOpen() { fail(part, Fault(.damaged, "expected parts of other sizes")) }
  }

  /// Compares the remaining checksums after a sequential read that has skipped nothing long. Blocks.
  ///
  /// If the file does not record its parts, all of them are compared. Otherwise, only those that are mostly decoded.
  public func finishChecks() throws(Fault) {
    guard state.withLock({ $0.table != nil }) else { return try findSize(.blocking) }
    while let part = state.withLock({ $0.begunPart }) {
      try decode(part)
    }
  }

  /// Compares the checksums of all parts, and checks whether the file ends where it should. Blocks.
  public func finishAllChecks() throws(Fault) {
    try findSize(.blocking)
    while let part = state.withLock({ $0.openPart(in: 0..<($0.end?.size ?? 0), atMost: .max) }) { try decode(part) }
  }

  /// Marks the unchecked bytes before an early end as damaged. Called after a reader has found their content invalid.
  /// If the file records its parts, each is trusted to the extent of its checksum.
  public func distrustEnd() {
    let known = state.withLock { $0.table == nil ? $0.end : nil }
    guard let end = known, let fault = end.fault, fault.kind == .damaged else { return }
    while let start = state.withLock({ $0.checks.firstOpen(in: 0..<end.size) }) { fail(start..<end.size, fault) }
  }

  public func assurance(of range: Range<Int64>) -> Assurance {
    state.withLock { state in
      // Bytes after an early end cannot be decoded.
      if let end = state.end, let fault = end.fault, range.upperBound > end.size { return .damaged(fault) }
      let range = range.clamped(to: 0..<max(0, state.end?.size ?? .max))
      if let damage = state.checks.damage(in: range) { return showsDamage ? .open : .damaged(damage.refusal) }
      guard state.checks.firstOpen(in: range) == nil else { return .open }
      return packing.hasChecksum ? .checked : .none
    }
  }

  /// The first damage, for a message about all of it. Nil if none is known.
  public var damage: Fault? { state.withLock { $0.checks.damages.first?.refusal } }

  /// The content without regard to its checksums, for headers that have their own.
  public var unchecked: any ByteSource { UncheckedContent(self) }
}

extension PartChecks.Damage {
  fileprivate var refusal: Fault {
    let bytes = "bytes \(range.lowerBound) to \(range.upperBound) of the decompressed data are damaged"
    return Fault(.damaged, "\(bytes): \(fault.reason) (-o damaged=show)", atByte: fault.offset)
  }
}

extension CompressedFormat {
  /// Whether files of the format usually have checksums.
  fileprivate var hasChecksum: Bool {
    switch self {
    case .gzip, .bzip2, .xz, .zstd, .lz4, .lzip: true
    case .lzma, .compress, .brotli: false
    }
  }
}

/// The content of a compressed file, including bytes that do not match their checksum.
private final class UncheckedContent: ByteSource {
  private let content: UnpackedSource

  init(_ content: UnpackedSource) { self.content = content }

  var size: Int64 { content.size }
  var hasKnownSize: Bool { content.hasKnownSize }
  var identity: ByteIdentity? { content.identity }
  var isSettling: Bool { content.isSettling }
  func findSize(_ blocking: BlockingMode) throws(Fault) { try content.findSize(blocking) }
  func verify() throws(Fault) { try content.verify() }
  func assurance(of range: Range<Int64>) -> Assurance { content.assurance(of: range) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    unsafe try content.readUnchecked(into: buffer, at: offset, blocking)
  }
}
