internal import Bytes
internal import Catalogue
internal import Codecs

/// The formats of archives that a worker lists.
enum ListedFormat {
  /// The extensions beside which the view is listed. Other archives are detected by their content.
  static let usual: Set<FileExtension> = [
    "7z", "cb7", "rar", "cbr", "iso", "cpio", "deb", "rpm", "cab", "lha", "lzh", "xar", "warc",
  ]
  /// The extensions of disk images, which another worker lists.
  static let disks = Set(DiskFormat.usualExtensions.map { FileExtension($0.utf8) })
  /// The extensions of disk images, and of other files.
  static let disksByName: Set<FileExtension> = ["img", "raw", "dd", "bin"]
  /// The extensions of archives commonly regarded as something else.
  static let byName: Set<FileExtension> = ["a", "ar", "pkg", "udeb", "mtree"]

  private static let marks: [[UInt8]] = [
    [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], Array("Rar!\u{1a}\u{7}\0".utf8), Array("Rar!\u{1a}\u{7}\u{1}\0".utf8),
    Array("070701".utf8), Array("070702".utf8), Array("070707".utf8), Array("070727".utf8), Array("!<arch>\n".utf8),
    [0xed, 0xab, 0xee, 0xdb], Array("MSCF\0\0\0\0".utf8), Array("xar!".utf8), Array("WARC/".utf8), Array("#mtree".utf8),
  ]
  /// Returns whether a file that starts with `head` has a format with a signature at its start, which disc images lack.
  static func isStart(_ head: ArraySlice<UInt8>) -> Bool {
    marks.contains { head.starts(with: $0) } || isLHA(head) || isBinaryCpio(head)
  }

  /// Returns whether `head` is a binary cpio header. The signature has two bytes in either order, so the first entry's
  /// type and name have to be valid.
  private static func isBinaryCpio(_ head: ArraySlice<UInt8>) -> Bool {
    let headerSize = 26
    guard head.count > headerSize else { return false }
    let isLittle = head.starts(with: [0xc7, 0x71])
    guard isLittle || head.starts(with: [0x71, 0xc7]) else { return false }
    func number(_ index: Int) -> Int {
      let bytes = head.dropFirst(2 * index).prefix(2)
      return Int(UInt16(littleEndianBytes: isLittle ? Array(bytes) : bytes.reversed()))
    }
    let (type, nameSize) = (number(3) >> 12, number(10))
    guard [1, 2, 4, 6, 8, 9, 10, 12, 0].contains(type), (2...4096).contains(nameSize) else { return false }
    let name = head.dropFirst(headerSize).prefix(nameSize)
    return name.count < nameSize ? !name.contains(0) : name.last == 0 && !name.dropLast().contains(0)
  }

  /// Returns whether a file's name indicates one of these formats, some of which can start with a program.
  static func isNamed(_ name: FileName) -> Bool {
    // An mtree list need not start with the signature.
    name.fileExtension.map { usual.contains($0) || $0 == "mtree" } ?? false
  }

  /// Returns whether `head` is an LHA header, which contains the method: `-lh5-`.
  private static func isLHA(_ head: ArraySlice<UInt8>) -> Bool {
    guard head.count > 21 else { return false }
    let method = Array(head.dropFirst(2).prefix(5))
    let level = head[head.startIndex + 20]
    return method[0] == 0x2d && method[4] == 0x2d && level <= 3
      && [Array("lh".utf8), Array("lz".utf8), Array("pm".utf8)].contains(Array(method[1...2]))
  }

  /// Returns whether a file is a disc image, by its 17th sector. Throws `later` if reading that takes long.
  static func isDisc(_ bytes: any ByteSource, _ blocking: BlockingMode) throws(Fault) -> Bool {
    if bytes.hasKnownSize, bytes.size < discStart + 2048 { return false }
    // Decompressed data can end before.
    var (mark, fault) = ([UInt8](repeating: 0, count: 5), Fault?.none)
    unsafe mark.withUnsafeMutableBytes { buffer in
      do throws(Fault) { _ = unsafe try bytes.read(into: buffer, at: discStart + 1, blocking) } catch { fault = error }
    }
    if let fault {
      if fault.kind == .damaged { return false }
      throw fault
    }
    return mark == Array("CD001".utf8)
  }

  /// Returns whether a file that starts with `head` is a disk image.
  static func isDisk(_ head: ArraySlice<UInt8>) -> Bool {
    DiskFormat.detect(size: nil) { (offset, count) throws(Never) in Array(head.dropFirst(Int(offset)).prefix(count)) }
      != nil
  }

  /// Returns whether a file is a 7z archive, by its first bytes.
  static func isSevenZip(_ head: ArraySlice<UInt8>) -> Bool { head.starts(with: marks[0]) }

  /// Returns the format of a disk image. Returns `nil` if the file is none. Throws `later` if reading takes long.
  static func disk(_ bytes: any ByteSource, _ blocking: BlockingMode) throws(Fault) -> DiskFormat? {
    let size = bytes.hasKnownSize ? bytes.size : nil
    do throws(Fault) {
      return try DiskFormat.detect(size: size) { (offset, count) throws(Fault) in
        try bytes.bytes(at: offset, atMost: count, blocking)
      }
    } catch {
      // Decompressed data can end before.
      if error.kind == .damaged { return nil }
      throw error
    }
  }

  /// Returns the reader of a disc image. The file system UDF, if the disc has one, lists everything. That of ISO 9660 may be
  /// a note that says so, but has permissions and links if it has the Rock Ridge extensions.
  static func discReader(
    _ bytes: any ByteSource, hasDiskReader: Bool, _ blocking: BlockingMode
  ) throws(Fault) -> ArchiveReader {
    guard hasDiskReader, try disk(bytes, blocking) == .udf else { return .library }
    return try hasRockRidge(bytes, blocking) ? .library : .disk
  }

  /// Returns whether the first record of an ISO 9660 file system's root directory has the entry SP of SUSP 1.12 (5.3).
  private static func hasRockRidge(_ bytes: any ByteSource, _ blocking: BlockingMode) throws(Fault) -> Bool {
    // The first sector of the root directory, in its record in the primary volume descriptor (ECMA-119 8.4.18).
    let place = try bytes.bytes(at: discStart + 158, atMost: 4, blocking)
    guard place.count == 4 else { return false }
    let record = try bytes.bytes(at: Int64(UInt32(littleEndianBytes: place)) * 2048, atMost: 41, blocking)
    return record.dropFirst(34).starts(with: Array("SP\u{7}\u{1}".utf8))
  }

  private static let discStart: Int64 = 32768

  /// Returns whether the worker reads archives with this compression.
  static func isInside(_ packing: CompressedFormat) -> Bool { packing != .brotli }
}
