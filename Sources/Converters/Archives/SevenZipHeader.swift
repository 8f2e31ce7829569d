internal import Bytes
internal import Codecs
internal import WorkerKit

/// The header at the start of a 7z archive, whose checksum libarchive 3.6 does not compare (7zFormat.txt, "SignatureHeader").
enum SevenZipHeader {
  private static let mark: [UInt8] = [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]
  private static let size = 32

  /// Returns whether the header matches its checksum, or the input starts with something else, such as a self-extracting
  /// program.
  static func isRight(_ input: JobInput) -> Bool {
    guard input.starts(with: mark), input.count >= size else { return true }
    let header = unsafe Array(input.bytes[..<size])
    return CRC32.of(header[12...]) == UInt32(littleEndianBytes: header[8...])
  }
}
