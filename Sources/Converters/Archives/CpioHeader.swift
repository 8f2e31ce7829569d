internal import WorkerKit

/// What the library does not tell of cpio archives.
enum CpioHeader {
  /// The sum of a file's bytes, which the format "crc" records.
  static func sum(_ input: JobInput, at place: Int64) -> UInt32? {
    guard place >= 0, place <= Int64(input.count) - 110 else { return nil }
    let header = unsafe Array(input.bytes[Int(place)..<Int(place) + 110])
    guard header.starts(with: "070702".utf8) else { return nil }
    return UInt32(String(decoding: header[102...], as: UTF8.self), radix: 16)
  }
}
