internal import Bytes

extension ZipTree {
  /// Notes at the entries whose data overlap those of one that starts before them, in the archive's order where they start
  /// alike, that other. What is left does not overlap, and so cannot stand for more than is there.
  ///
  /// An entry that claims to run past `end`, where the central directory starts, is bad itself and costs no other. O(n) for
  /// archives written front to back, else O(n log n).
  mutating func markOverlaps(before end: Int64) throws(Fault) {
    if isInOrder { return }
    // Sorting takes half as much again.
    let count = nodes.count + nodes.count / 2
    try memory.take(count, of: MemoryLayout<UInt32>.stride)
    defer { memory.giveBack(count, of: MemoryLayout<UInt32>.stride) }
    var entries: [UInt32] = []
    entries.reserveCapacity(nodes.count)
    for index in nodes.indices where nodes[index].hasData { entries.append(UInt32(index)) }
    entries.sort { one, other in
      let (first, second) = (nodes[Int(one)].localHeaderOffset, nodes[Int(other)].localHeaderOffset)
      return first == second ? one < other : first < second
    }
    var reached: (end: Int64, by: UInt32) = (0, 0)
    for entry in entries {
      let node = nodes[Int(entry)]
      if node.localHeaderOffset < reached.end {
        update(entry) { $0.overlapped = reached.by }
      } else if node.dataEnd <= end || node.localHeaderOffset >= end {
        reached = (node.dataEnd, entry)
      }
    }
  }

  private var isInOrder: Bool {
    var reached: Int64 = 0
    for node in nodes where node.hasData {
      guard node.localHeaderOffset >= reached else { return false }
      reached = node.dataEnd
    }
    return true
  }
}

extension ZipNode {
  fileprivate var hasData: Bool { kind != .folder && localHeaderOffset >= 0 }

  /// Where its data end at the least: how long the local header is, only it tells.
  fileprivate var dataEnd: Int64 {
    localHeaderOffset + compressedSize + 30
  }
}
