internal import Bytes
internal import Catalogue
internal import Codecs
internal import Glibc

/// Programs that are followed by an archive that a worker lists: 7z, RAR, CAB, or SquashFS (AppImage).
enum SelfExtracting {
  /// Returns whether a file is a program for Windows or Linux, by its first bytes.
  static func isProgram(_ head: ArraySlice<UInt8>) -> Bool {
    head.starts(with: Array("MZ".utf8)) || head.starts(with: Array("\u{7f}ELF".utf8))
  }

  /// Returns the offset of the archive and the program that lists it. Returns `nil` if there is none in the first 2 MiB,
  /// or the file is not a program. Blocks.
  static func archive(
    in bytes: any ByteSource, startingWith head: ArraySlice<UInt8>
  ) throws(Fault) -> (start: Int64, reader: ArchiveReader)? {
    guard isProgram(head) else { return nil }
    let searched = try bytes.bytes(at: 0, count: Int(min(bytes.size, searchedSize)), .blocking)
    let found = kinds.flatMap { kind in
      places(of: kind.mark, in: searched).filter { kind.fits(searched[$0...], bytes.size - Int64($0)) }.map {
        (start: Int64($0), reader: kind.reader)
      }
    }
    return found.min { $0.start < $1.start }
  }

  /// The number of bytes to search. Self-extracting programs are smaller.
  private static let searchedSize: Int64 = 2 << 20
  private static let mostPlaces = 64

  private typealias Kind = (
    reader: ArchiveReader, mark: [UInt8], fits: @Sendable (_ start: ArraySlice<UInt8>, _ size: Int64) -> Bool
  )

  /// The formats. A signature can be a constant of the program, so the following bytes have to fit.
  private static let kinds: [Kind] = [
    (
      .library, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c],
      { start, _ in
        start.count >= 32 && CRC32.of(start.dropFirst(12).prefix(20)) == UInt32(littleEndianBytes: start.dropFirst(8))
      }
    ),
    (
      .library, Array("Rar!\u{1a}\u{7}\0".utf8),
      { start, _ in
        let header = start.dropFirst(7).prefix(13)
        return header.count == 13
          && CRC32.of(header.dropFirst(2)) & 0xffff == UInt32(UInt16(littleEndianBytes: header))
      }
    ),
    (
      .library, Array("Rar!\u{1a}\u{7}\u{1}\0".utf8),
      { start, _ in
        let header = start.dropFirst(8)
        guard let size = header.dropFirst(4).first, size < 0x80, header.count >= 5 + Int(size) else { return false }
        return CRC32.of(header.dropFirst(4).prefix(1 + Int(size))) == UInt32(littleEndianBytes: header)
      }
    ),
    (
      .library, Array("MSCF\0\0\0\0".utf8),
      { start, size in
        start.count >= 26 && Int64(UInt32(littleEndianBytes: start.dropFirst(8))) <= size
          && start.dropFirst(24).prefix(2).elementsEqual([3, 1])
      }
    ),
    (
      .disk, Array("hsqs".utf8),
      { start, size in
        // The size of blocks and its logarithm, version 4.0, and the size of the image.
        guard start.count >= 48, (12...20).contains(start[start.startIndex + 22]) else { return false }
        let blockSize = UInt32(littleEndianBytes: start.dropFirst(12))
        return blockSize == 1 << UInt32(start[start.startIndex + 22])
          && start.dropFirst(28).prefix(4).elementsEqual([4, 0, 0, 0])
          && Int64(clamping: UInt64(littleEndianBytes: start.dropFirst(40))) <= size
      }
    ),
  ]

  private static func places(of mark: [UInt8], in bytes: [UInt8]) -> [Int] {
    var found: [Int] = []
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      var place = 0
      while found.count < mostPlaces, place <= bytes.count - mark.count,
        let next = unsafe memchr(base + place, Int32(mark[0]), bytes.count - mark.count - place + 1)
      {
        place = unsafe base.distance(to: UnsafeRawPointer(next))
        if unsafe memcmp(next, mark, mark.count) == 0 { found.append(place) }
        place += 1
      }
    }
    return found
  }
}
