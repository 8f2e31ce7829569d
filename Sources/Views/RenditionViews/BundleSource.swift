internal import Bytes
internal import Catalogue
internal import Locks
internal import Tree

/// The bytes of several files as one input of the converter: their list, then one file after the other.
///
/// Each file is opened when its bytes are read. One file is open at a time.
final class BundleSource: ByteSource {
  private let members: [FileGroup.Member]
  private let list: [UInt8]
  /// The offset of each file.
  private let starts: [Int64]
  let size: Int64
  let identity: ByteIdentity?
  let isSettling: Bool
  private let opened = UnfairLock<(index: Int, source: any ByteSource)?>(nil)

  /// Opens each file once. Blocks.
  init(_ members: [FileGroup.Member]) throws(Fault) {
    self.members = members
    var parts: [(name: FileName, identity: ByteIdentity)] = []
    var files: [Bundle.Member] = []
    var isSettling = false
    for member in members {
      try CancellationToken.check()
      let source = try member.open(.blocking)
      isSettling = isSettling || source.isSettling
      if let identity = source.identity { parts.append((member.name, identity)) }
      files.append(Bundle.Member(name: member.name.text, size: source.size))
    }
    list = Bundle(files).list
    guard list.count <= Bundle.longestList else { throw .longList }
    var starts: [Int64] = []
    var end = Int64(list.count)
    for file in files {
      starts.append(end)
      end += file.size
      guard Bounds.holds(end) else { throw Fault(.limit, "the files are too large together") }
    }
    self.starts = starts
    size = end
    self.isSettling = isSettling
    identity = parts.count == members.count ? ByteIdentity(bundling: parts) : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard blocking == .blocking else { throw .later }
    guard offset >= 0 else { return 0 }
    var filled = 0
    while filled < buffer.count, offset < size - Int64(filled) {
      let place = offset + Int64(filled)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      if place < list.count {
        let bytes = list[Int(place)...].prefix(rest.count)
        unsafe rest.copyBytes(from: bytes)
        filled += bytes.count
        continue
      }
      // The last file that starts there. Those before it are empty.
      let index = (starts.firstIndex { $0 > place } ?? starts.count) - 1
      let source = try source(index)
      let within = place - starts[index]
      let count = Int(min(Int64(rest.count), source.size - within))
      do throws(Fault) {
        unsafe try source.fill(UnsafeMutableRawBufferPointer(rebasing: rest[..<count]), at: within, .blocking)
        if within + Int64(count) == source.size { try source.verify() }
      } catch { throw named(error, index) }
      filled += count
    }
    return filled
  }

  private func source(_ index: Int) throws(Fault) -> any ByteSource {
    if let known = opened.withLock({ $0 }), known.index == index { return known.source }
    let source = try members[index].open(.blocking)
    let end = index + 1 < starts.count ? starts[index + 1] : size
    guard source.size == end - starts[index] else {
      throw Fault(.changed, "\(members[index].name.text) changed while it was read")
    }
    opened.withLock { $0 = (index, source) }
    return source
  }

  private func named(_ fault: Fault, _ index: Int) -> Fault {
    var fault = fault
    if !fault.isDelay { fault.reason = "\(members[index].name.text) \(fault.reason)" }
    return fault
  }
}
