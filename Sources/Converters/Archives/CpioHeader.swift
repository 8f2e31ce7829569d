internal import CArchive
internal import WorkerKit

/// The facts about cpio archives that the library does not report.
enum CpioHeader {
  /// Returns the sum of a file's bytes, which the format "crc" records. Returns `nil` for other formats.
  static func sum(_ input: JobInput, at place: Int64) -> UInt32? {
    guard place >= 0, place <= Int64(input.count) - 110 else { return nil }
    let header = unsafe Array(input.bytes[Int(place)..<Int(place) + 110])
    guard header.starts(with: "070702".utf8) else { return nil }
    return UInt32(String(decoding: header[102...], as: UTF8.self), radix: 16)
  }

  private static let marks: [[UInt8]] =
    ["070701", "070702", "070707", "070727"].map { Array($0.utf8) } + [[0xc7, 0x71], [0x71, 0xc7]]

  /// Returns whether a header starts at an offset.
  static func isStart(_ input: JobInput, at place: Int64) -> Bool {
    guard place >= 0, place <= Int64(input.count) else { return false }
    let head = unsafe Array(input.bytes[Int(place)..<min(input.count, Int(place) + 6)])
    return marks.contains { head.starts(with: $0) }
  }

  /// Returns the size of the last entry, which has no bytes and the name `TRAILER!!!`. `format` is one of the library's
  /// constants. Returns `nil` if the library does not search for headers of that format.
  static func endSize(_ format: Int32) -> Int64? {
    switch format {
    case ARCHIVE_FORMAT_CPIO | 4, ARCHIVE_FORMAT_CPIO | 5: 124
    case ARCHIVE_FORMAT_CPIO | 1: 87
    default: nil
    }
  }
}
