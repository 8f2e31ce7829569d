internal import Bytes
internal import CArchive
public import Catalogue
internal import Codecs
public import WorkerKit

/// Decompresses a ZIP archive's entry whose method the daemon has no decoder for. libarchive reads the bytes after a
/// local header (APPNOTE 4.3.7) made for them.
public enum PackedEntryWriter {
  /// Writes the decompressed bytes. Throws if their number or CRC differs from the recorded one.
  public static func write(_ entry: PackedEntry, of input: JobInput, to output: JobOutput) throws(JobFailure) {
    let archive = try ArchiveFile(input, behind: header(entry, packedSize: Int64(input.count)))
    guard try archive.next() else { throw JobFailure(.damaged, "cannot be decoded") }
    var (place, sum): (Int64, CRC32) = (0, CRC32())
    while let block = unsafe try archive.block() {
      let count = unsafe Int64(block.bytes.count)
      guard unsafe block.offset == place, count <= entry.size - place else {
        throw JobFailure(.damaged, "has more bytes than its recorded size of \(entry.size)")
      }
      unsafe sum.update(block.bytes)
      try unsafe output.write(block.bytes.bytes, at: place)
      place += count
    }
    guard place == entry.size else { throw JobFailure(.damaged, "ends after \(place) of \(entry.size) bytes") }
    if let crc = entry.crc, crc != sum.value { throw JobFailure(.damaged, Fault(crc: crc, found: sum.value).reason) }
  }

  private static func header(_ entry: PackedEntry, packedSize: Int64) -> [UInt8] {
    var bytes: [UInt8] = Array("PK\u{3}\u{4}".utf8)
    // Version 6.3, no flags, the first day of 1980.
    for number in [63, 0, entry.method, 0, 0x21] as [UInt16] { bytes.append(littleEndian: number) }
    bytes.append(littleEndian: entry.crc ?? 0)
    // Both sizes are in the extra field (4.5.3).
    for _ in 0..<2 { bytes.append(littleEndian: UInt32.max) }
    for number in [1, 20] as [UInt16] { bytes.append(littleEndian: number) }
    bytes.append(UInt8(ascii: "x"))
    for number in [1, 16] as [UInt16] { bytes.append(littleEndian: number) }
    for number in [entry.size, packedSize] { bytes.append(littleEndian: number) }
    return bytes
  }
}
