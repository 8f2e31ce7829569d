internal import Bytes

/// Where the files lie that an archive was split into, among its bytes: each place in it is told from the start of one of them
/// (APPNOTE 8.3, "disks").
struct Volumes: Sendable {
  /// How many there are, as the archive says; 1 for one that was not split.
  let count: Int
  /// Those before the last one that are there without a gap, and the last one.
  private let starts: [Int64]

  /// Without a `JoinedSource` only the last one is there, or all is in one file whatever it says.
  init(_ source: any ByteSource, count: Int) {
    self.count = count
    starts = count > 1 ? (source as? JoinedSource)?.starts ?? [0] : [0]
  }

  static let one = Volumes(ByteArraySource([]), count: 1)

  /// Where a volume, counted from 0, starts in the source; nil where it is not there.
  private func start(of volume: Int) -> Int64? {
    if volume == count - 1 { return starts.last }
    return volume < starts.count - 1 ? starts[volume] : nil
  }

  /// Where a place in a volume is in the source; one below 0, which tells the volume, where that is not there.
  func place(_ offset: Int64, in volume: Int) -> Int64 {
    guard starts.count > 1 else { return offset }
    return start(of: volume).map { Bounds.sum($0, offset) } ?? -1 - Int64(volume)
  }

  /// Throws when data that start at a place in the source, or at one that tells a volume, are not all there.
  func check(_ count: Int64, at place: Int64) throws(Fault) {
    guard starts.count > 1, let last = starts.last else { return }
    if place < 0 { throw missing(Int(clamping: -1 - place), atByte: nil) }
    if starts.count < self.count, place < last, Bounds.sum(place, count) > last {
      throw missing(starts.count - 1, atByte: place)
    }
  }

  /// Why a local header is not where it should be; nil where the archive was not split, or its parts are there.
  func absence(atByte offset: Int64) -> Fault? {
    guard count > 1, starts.count == 1 else { return nil }
    return Fault(
      .unsupported, "the archive was split into \(count) files (.z01 to .zip), and the others are not beside this one",
      atByte: offset)
  }

  private func missing(_ volume: Int, atByte offset: Int64?) -> Fault {
    Fault(
      .unsupported,
      "it is in part \(volume + 1) of the \(count) that the archive was split into, of which part \(starts.count) is missing",
      atByte: offset)
  }
}
