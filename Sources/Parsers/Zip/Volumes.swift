internal import Bytes

/// The volumes of a split archive ("disks", APPNOTE 8.3): offsets are relative to one of them.
struct Volumes: Sendable {
  /// The recorded number of volumes; 1 for an archive that is not split.
  let count: Int
  /// The offset of each in the source; empty unless all are known.
  private let starts: [Int64]

  /// The parts of a `JoinedSource` are the volumes. Any other source is the last volume, or a whole archive whatever it
  /// records.
  init(_ source: any ByteSource, count: Int) {
    self.count = count
    let source = (source as? TailWindow)?.source ?? source
    let starts = count > 1 ? (source as? JoinedSource)?.starts ?? [] : []
    self.starts = starts.count == count ? starts : []
  }

  static let one = Volumes(ByteArraySource([]), count: 1)

  /// The offset in the source of an offset in a volume, counted from 0.
  func place(_ offset: Int64, in volume: Int) -> Int64 {
    starts.indices.contains(volume) ? Bounds.sum(starts[volume], offset) : offset
  }

  /// Whether only the last volume is present.
  var areMissing: Bool { count > 1 && starts.isEmpty }

  /// Explains a failure at an offset by missing volumes; nil if none is missing.
  func absence(atByte offset: Int64) -> Fault? {
    guard areMissing else { return nil }
    return Fault(
      .unsupported, "the archive was split into \(count) files, of which the first (.z01) is not beside this one",
      atByte: offset)
  }
}
