internal import Bytes
internal import Codecs
internal import Entries
internal import TestSupport
internal import Zip

/// Reads everything in an archive, within a budget, and records violated invariants.
struct ZipReading {
  private(set) var complaints: [String] = []
  /// The remaining budget of bytes to read and entries to open, for the archive and nested ones.
  private var bytesLeft = 24 << 20
  private var entriesLeft = 300

  /// Two stretches and a part of a third.
  private static let largestSize: Int64 = 5 << 19
  private static let deepest = 3

  private mutating func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
    if !isSo, complaints.count < 20 { complaints.append(complaint()) }
  }

  /// `inputSize`, in bytes, bounds the number of nodes.
  mutating func read(_ source: any ByteSource, inputSize: Int, depth: Int) {
    let isArchive = try? ZipArchive.isArchive(source)
    var options = ZipOptions()
    options.passwords = Passwords(["wrong", "secret", "foofoofoo", "1234"].map { Array($0.utf8) })
    options.largestSize = Self.largestSize
    options.showsAllLinks = inputSize % 4 == 1
    // With a spool, a full one, or none.
    let spool = inputSize % 3
    options.spool = { spool == 0 ? nil : MemorySpool(capacity: spool == 1 ? .max : 1 << 20) }
    let opened = try? ZipArchive(
      source, modified: Timestamp(seconds: 1), cache: BlockCache(capacity: 2 << 20), options: options)
    guard let archive = opened else { return }
    check(isArchive != nil, "opens, and nobody can say whether it is an archive")
    // Each header takes at least 46 bytes and each folder a byte of a path.
    check(archive.count <= inputSize, "\(archive.count) nodes in \(inputSize) bytes")
    walk(archive, depth: depth)
  }

  private mutating func walk(_ archive: ZipArchive, depth: Int) {
    var seen = 1
    var folders = [ZipArchive.root]
    while let folder = folders.popLast() {
      let children = archive.children(of: folder)
      var names: Set<FileName> = []
      for (place, child) in children.enumerated() {
        seen += 1
        checkName(archive, child, &names)
        check(archive.parent(of: child) == folder, "node \(child) has another parent than its folder")
        check(
          archive.entries.sibling(after: child) == children.dropFirst(place + 1).first,
          "node \(child) has another sibling")
        check(archive.node(child).size >= 0, "node \(child) has a negative size")
        if archive.node(child).kind == .folder { folders.append(child) } else { open(archive, child, depth: depth) }
      }
    }
    check(seen == archive.count, "\(seen) nodes are reached of \(archive.count)")
  }

  private mutating func checkName(_ archive: ZipArchive, _ node: UInt32, _ names: inout Set<FileName>) {
    let bytes = archive.name(of: node)
    let isSafe =
      !bytes.isEmpty && bytes.count <= 255 && !bytes.contains(0x2f) && !bytes.contains(0) && Array(bytes) != [0x2e]
      && Array(bytes) != [0x2e, 0x2e]
    check(isSafe, "node \(node) has the name \(Array(bytes))")
    let name = FileName(bytes)
    check(names.insert(name).inserted, "two nodes of a folder have the name \(Array(bytes))")
    check(
      archive.child(of: archive.parent(of: node), named: name) == node, "node \(node) is not found by its name")
  }

  private mutating func open(_ archive: ZipArchive, _ node: UInt32, depth: Int) {
    guard entriesLeft > 0, bytesLeft > 0 else { return }
    entriesLeft -= 1
    let isReadable: Bool
    do throws(Fault) {
      _ = try archive.open(node, .immediate)
      isReadable = true
    } catch { isReadable = error == .later }
    guard let source = try? archive.open(node, .blocking) else { return }
    check(isReadable, "node \(node) opens for who waits and not for who does not")
    check(source.size == archive.node(node).size, "node \(node) has two sizes")
    if archive.node(node).kind == .file {
      var fault: Fault?
      do throws(Fault) { fault = try archive.fault(of: node, .blocking) } catch { fault = error }
      check(fault == nil, "node \(node) opens, and has the fault \(fault?.reason ?? "")")
    }
    read(source, node)
    // The limit may be exceeded by a few megabytes.
    guard depth < Self.deepest, source.size <= Self.largestSize, bytesLeft > 0 else { return }
    read(source, inputSize: Int(source.size), depth: depth + 1)
  }

  /// Reads at some offsets, then front to back, and compares.
  private mutating func read(_ source: any ByteSource, _ node: UInt32) {
    let size = source.size
    var parts: [(offset: Int64, bytes: [UInt8])] = []
    for (offset, count) in [(size / 2, 5000), (size - 1, 10), (size / 3, 70_000), (size, 10), (.max, 10), (-1, 10)] {
      guard let got = try? source.partialBytes(at: offset, count: count) else { continue }
      bytesLeft -= got.count
      let expected = offset < 0 ? 0 : max(0, min(Int64(count), size - offset))
      check(Int64(got.count) == expected, "node \(node) gives \(got.count) bytes of \(expected) at \(offset)")
      if let again = try? source.partialBytes(at: offset, count: count, .immediate) {
        check(again == got, "node \(node) gives other bytes at \(offset) the second time")
      }
      if offset >= 0 { parts.append((offset, got)) }
      _ = source.extent(at: offset, count: count)
      if source.workAhead(of: offset) != .none { source.prepare(at: offset) }
    }
    guard size <= Self.largestSize, let whole = try? source.readThrough(step: 128 << 10) else { return }
    bytesLeft -= whole.count
    check(Int64(whole.count) == size, "node \(node) has \(whole.count) bytes of \(size)")
    for part in parts where part.offset < size {
      let (start, end) = (Int(part.offset), Int(part.offset) + part.bytes.count)
      check(
        end <= whole.count && areSame(part.bytes, whole[start..<end]),
        "node \(node) read at \(start) is not what it is read front to back")
    }
  }
}
