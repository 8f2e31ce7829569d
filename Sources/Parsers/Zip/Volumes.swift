internal import Bytes

/// The volumes of a split archive ("disks", APPNOTE 8.3). Offsets are relative to a volume.
struct Volumes: Sendable {
  /// The recorded number of volumes. 1 for an archive that is not split.
  let count: Int
  /// The offset of each volume in the source. Empty unless all are known.
  private let starts: [Int64]

  /// Determines the volumes: the parts of a `JoinedSource`. Any other source is the last volume, or a complete archive
  /// despite its recorded count.
  init(_ source: any ByteSource, count: Int) {
    self.count = count
    let source = (source as? TailWindow)?.source ?? source
    let starts = count > 1 ? (source as? JoinedSource)?.starts ?? [] : []
    self.starts = starts.count == count ? starts : []
  }

  static let one = Volumes(ByteArraySource([]), count: 1)

  /// Returns the offset in the source of an offset in a volume, counted from 0.
  func place(_ offset: Int64, in volume: Int) -> Int64 {
    starts.indices.contains(volume) ? Bounds.sum(starts[volume], offset) : offset
  }

  /// Whether only the last volume is present.
  var areMissing: Bool { count > 1 && starts.isEmpty }

  /// Returns the fault that explains a failure at an offset by missing volumes. Returns `nil` if no volume is missing.
  func absence(atByte offset: Int64) -> Fault? {
    guard areMissing else { return nil }
    return Fault(
      .unsupported, "the archive was split into \(count) files, and the first (.z01) is not beside this one",
      atByte: offset)
  }
}
