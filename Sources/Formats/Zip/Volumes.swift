internal import Bytes

/// The files that an archive was split into ("disks", APPNOTE 8.3): each place in it is told from the start of one of them.
struct Volumes: Sendable {
  /// How many there are, as the archive says; 1 for one that was not split.
  let count: Int
  /// Where each starts in the source; empty unless all are known.
  private let starts: [Int64]

  /// They are the parts of a `JoinedSource`. Of any other source it is the last one, or all is in one file whatever it says.
  init(_ source: any ByteSource, count: Int) {
    self.count = count
    let starts = count > 1 ? (source as? JoinedSource)?.starts ?? [] : []
    self.starts = starts.count == count ? starts : []
  }

  static let one = Volumes(ByteArraySource([]), count: 1)

  /// Where a place in a volume, counted from 0, is in the source.
  func place(_ offset: Int64, in volume: Int) -> Int64 {
    starts.indices.contains(volume) ? Bounds.sum(starts[volume], offset) : offset
  }

  /// Whether only the last one is there.
  var areMissing: Bool { count > 1 && starts.isEmpty }

  /// Why nothing right is found at a place; nil where that is not for a volume's sake.
  func absence(atByte offset: Int64) -> Fault? {
    guard areMissing else { return nil }
    return Fault(
      .unsupported, "the archive was split into \(count) files, of which the first (.z01) is not beside this one",
      atByte: offset)
  }
}
