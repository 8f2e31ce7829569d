internal import Bytes
internal import Codecs
internal import Locks
internal import Threads
internal import Tree

/// The lines of a list of checksums, as sha256sum prints them. A file is read when its line is read.
final class SumList: ByteSource {
  private let members: [FileGroup.Member]
  /// The offset of each line, and the size of all.
  private let starts: [Int64]
  /// Held while a file is read. Lock order: before `state`.
  private let turn = CancellableLock()
  private let state = UnfairLock(State())

  private struct State {
    /// The checksums, by line. Files with several names are read once.
    var digests: [Int: [UInt8]] = [:]
    var inodes: [UInt64: Int] = [:]
    var fault: Fault?
    /// The line of the file that is being read, its bytes, and the offset of the next ones. A job may have to be awaited
    /// before these.
    private(set) var line: Int?
    private(set) var bytes: (any ByteSource)?
    private(set) var place: Int64 = 0
    private(set) var sum: SHA256Sum?

    mutating func start(_ line: Int, _ bytes: any ByteSource, _ sum: SHA256Sum) {
      (self.line, self.bytes, self.place, self.sum) = (line, bytes, 0, sum)
    }

    mutating func advance(to place: Int64) { self.place = place }

    mutating func end() { (line, bytes, sum) = (nil, nil, nil) }
  }

  private static let step = 1 << 20

  var size: Int64 { starts[members.count] }
  var identity: ByteIdentity? { nil }
  /// The last fault of a file.
  var fault: Fault? { state.withLock { $0.fault } }

  init(_ members: [FileGroup.Member]) {
    self.members = members
    var starts: [Int64] = [0]
    starts.reserveCapacity(members.count + 1)
    for member in members { starts.append(starts[starts.count - 1] + Int64(Self.line(member, digest: nil).count)) }
    self.starts = starts
  }

  /// Returns a line. Without a digest, it has zeros.
  private static func line(_ member: FileGroup.Member, digest: [UInt8]?) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    let digest = digest ?? Array(repeating: 0, count: SHA256Sum.size)
    let escapes: [UInt8: UInt8] = [0x0a: UInt8(ascii: "n"), 0x0d: UInt8(ascii: "r"), 0x5c: 0x5c]
    var line: [UInt8] = member.name.bytes.contains { escapes[$0] != nil } ? [0x5c] : []
    for byte in digest { line += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    line += "  ".utf8
    for byte in member.name.bytes {
      if let escape = escapes[byte] { line += [0x5c, escape] } else { line.append(byte) }
    }
    line.append(0x0a)
    return line
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    if blocking == .immediate { throw .later }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var line = starts.partitionIndex { $0 <= offset } - 1
    var done = 0
    while done < wanted {
      let bytes = Self.line(members[line], digest: try digest(of: line))
      let part = bytes.dropFirst(Int(offset + Int64(done) - starts[line])).prefix(wanted - done)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part.count]).copyBytes(from: part)
      done += part.count
      line += 1
    }
    return wanted
  }

  private func digest(of line: Int) throws(Fault) -> [UInt8] {
    let member = members[line]
    let inode = member.attributes.links > 1 ? member.item.inode : nil
    func known() -> [UInt8]? {
      state.withLock { state in
        state.digests[line] ?? inode.flatMap { state.inodes[$0] }.flatMap { state.digests[$0] }
      }
    }
    if let known = known() { return known }
    try turn.lock()
    defer { turn.unlock() }
    if let known = known() { return known }
    do throws(Fault) {
      let digest = try sum(line)
      state.withLock { state in
        state.digests[line] = digest
        if let inode { state.inodes[inode] = line }
      }
      return digest
    } catch {
      if error.concernsContent { state.withLock { $0.fault = error } }
      throw error
    }
  }

  /// Reads a file, from the offset that an earlier call has reached. The caller holds `turn`.
  private func sum(_ line: Int) throws(Fault) -> [UInt8] {
    if state.withLock({ $0.line }) != line {
      let bytes = try members[line].open(.blocking)
      let sum = try SHA256Sum()
      state.withLock { $0.start(line, bytes, sum) }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.step, alignment: 16)
    defer { unsafe buffer.deallocate() }
    guard let bytes = state.withLock({ $0.bytes }), let sum = state.withLock({ $0.sum }) else { throw .later }
    var place = state.withLock { $0.place }
    while place < bytes.size {
      try CancellationToken.check()
      let part = unsafe UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<Int(min(Int64(Self.step), bytes.size - place))])
      do throws(Fault) { unsafe try bytes.fill(part, at: place, .blocking) } catch {
        if error.isDelay { throw error }
        state.withLock { $0.end() }
        throw Fault(error.kind, "\(members[line].name.text) \(error.reason)", atByte: error.offset)
      }
      place += Int64(part.count)
      unsafe sum.update(UnsafeRawBufferPointer(part))
      state.withLock { $0.advance(to: place) }
    }
    try bytes.verify()
    state.withLock { $0.end() }
    return sum.finish()
  }
}
