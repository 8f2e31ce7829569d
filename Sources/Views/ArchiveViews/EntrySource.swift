internal import Bytes
internal import Synchronization
internal import Tree
internal import Unpacking

/// An entry's bytes. Records faults and unverified reads for `user.ffmount.error` and `user.ffmount.state`, and decodes
/// the next entry ahead of a reader of consecutive entries.
final class EntrySource: EndingEarly {
  private let source: any ByteSource
  private let archive: Archive
  private let index: UInt32
  private let isSequence: Bool
  /// Whether reading all bytes compares them with the archive's checksum of this entry.
  private let hasChecksum: Bool
  /// Whether a read has been recorded as unverified, or as verified.
  private let isUnverified = Atomic(false)
  private let isVerified = Atomic(false)

  var size: Int64 { source.size }
  var hasKnownSize: Bool { source.hasKnownSize }
  var earlyEnd: (bytes: any ByteSource, fault: Fault)? { source.earlyEnd }
  var identity: ByteIdentity? { source.identity }
  var isSettling: Bool { source.isSettling }
  func assurance(of range: Range<Int64>) -> Assurance {
    guard hasChecksum else { return source.assurance(of: range) }
    if case .damaged(let fault) = source.assurance { return .damaged(fault) }
    // A read to the end compares them.
    return .checked
  }

  init(_ source: any ByteSource, _ archive: Archive, _ index: UInt32, isSequence: Bool, hasChecksum: Bool) {
    self.source = source
    self.archive = archive
    self.index = index
    self.isSequence = isSequence
    self.hasChecksum = hasChecksum
  }

  // Decoding may have continued after the last read.
  deinit { if isUnverified.load(ordering: .relaxed) { noteAssurance() } }

  /// Records whether the bytes that were read have been compared with the entry's own checksum.
  private func noteAssurance() {
    guard hasChecksum, !isVerified.load(ordering: .relaxed) else { return }
    switch source.assurance {
    case .open:
      if isUnverified.exchange(true, ordering: .relaxed) { return }
      archive.noteRead(of: index, isVerified: false)
    case .checked, .none:
      isVerified.store(true, ordering: .relaxed)
      archive.noteRead(of: index, isVerified: true)
    case .damaged: break
    }
  }

  private func noting<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    do throws(Fault) { return try body() } catch {
      archive.note(error, at: index)
      throw error
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    let count = try noting { () throws(Fault) in unsafe try source.read(into: buffer, at: offset, blocking) }
    if count > 0 { noteAssurance() }
    return count
  }

  func findSize(_ blocking: BlockingMode) throws(Fault) { try source.findSize(blocking) }
  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? { try source.next(area, from: offset) }
  func extent(at offset: Int64, count: Int) -> Extent? { source.extent(at: offset, count: count) }
  func verify() throws(Fault) { try source.verify() }

  func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try noting { () throws(Fault) in try source.willMove(at: offset, count: count, blocking) }
    if count > 0 { noteAssurance() }
  }

  func workAhead(of offset: Int64) -> WorkAhead {
    next(at: offset) == nil ? source.workAhead(of: offset) : .short
  }

  func prepare(at offset: Int64) {
    guard let (next, tree) = next(at: offset) else { return source.prepare(at: offset) }
    archive.decodeAhead(next, of: tree)
  }

  /// Returns the entry to decode ahead for a reader at `offset`.
  private func next(at offset: Int64) -> (node: UInt32, tree: ArchiveTree)? {
    guard isSequence, offset == 0, let tree = archive.tree, let next = archive.next(after: index, of: tree) else {
      return nil
    }
    return (next, tree)
  }
}
