internal import Bytes
internal import Entries

extension ZipTree {
  /// Marks each entry whose data overlaps that of an earlier entry, by offset and then by the archive's order, with
  /// that entry. The remaining entries do not overlap, so the same bytes are not expanded twice.
  ///
  /// An entry that claims to extend beyond `end`, the start of the central directory, is invalid itself and marks no
  /// others. O(n) for archives written sequentially, else O(n log n).
  mutating func markOverlaps(before end: Int64) throws(Fault) {
    if isInOrder { return }
    // Sorting takes half as much memory in addition.
    let count = nodes.count + nodes.count / 2
    try borrow(count, of: MemoryLayout<UInt32>.stride)
    defer { giveBack(count, of: MemoryLayout<UInt32>.stride) }
    var entries: [UInt32] = []
    entries.reserveCapacity(nodes.count)
    for index in nodes.indices where detail(UInt32(index))?.hasData ?? false { entries.append(UInt32(index)) }
    entries.sort { one, other in
      let (first, second) = (offset(one), offset(other))
      return first == second ? one < other : first < second
    }
    var reached: (end: Int64, by: UInt32) = (0, 0)
    for entry in entries {
      guard let node = detail(entry) else { continue }
      if node.localHeaderOffset < reached.end {
        updateDetail(of: entry) { $0.overlapped = reached.by }
      } else if node.dataEnd <= end || node.localHeaderOffset >= end {
        reached = (node.dataEnd, entry)
      }
    }
  }

  private func offset(_ entry: UInt32) -> Int64 { detail(entry)?.localHeaderOffset ?? -1 }

  private var isInOrder: Bool {
    var reached: Int64 = 0
    for node in details where node.hasData {
      guard node.localHeaderOffset >= reached else { return false }
      reached = node.dataEnd
    }
    return true
  }
}

extension ZipDetail {
  fileprivate var hasData: Bool { localHeaderOffset >= 0 }

  /// The minimum offset of the data's end: only the local header records its own length.
  fileprivate var dataEnd: Int64 {
    localHeaderOffset + compressedSize + 30
  }
}
