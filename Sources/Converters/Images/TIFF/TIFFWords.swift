internal import Bytes
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// Adds the text fields of an EXIF block to a TIFF file that is already written, since libvips writes none.
///
/// Both are directories of entries, the block's with offsets of its own (TIFF 6.0, section 2; EXIF 2.32, section 4.6).
/// A new first directory is appended to the file, with its existing entries and those about the origin of the picture.
struct TIFFWords {
  private let block: [UInt8]
  private let start: Int
  private let isBigEndian: Bool
  /// The bytes to append to the file.
  private var tail: [UInt8] = []
  private let end: Int

  private struct Entry {
    let tag: Int
    /// The type, count, and value or its offset, little-endian.
    let rest: [UInt8]
  }

  /// The tags of description, maker, model, program, date, artist and copyright. All others describe how pixels are
  /// stored.
  private static let ofFile: Set<Int> = [0x010E, 0x010F, 0x0110, 0x0131, 0x0132, 0x013B, 0x8298]
  /// The tags of nested directories: EXIF and GPS in the first one, interoperability in EXIF's.
  private static let inner: Set<Int> = [0x8769, 0x8825, 0xA005]

  /// Adds the fields of an EXIF block. Does nothing if the file is not a TIFF as written by libvips, or the block is
  /// invalid.
  static func add(_ block: [UInt8], to output: JobOutput) throws(JobFailure) {
    let size = try Int(output.size())
    var header = [UInt8](repeating: 0, count: 8)
    guard size < 1 << 31, unsafe pread(output.descriptor, &header, 8, 0) == 8,
      header.starts(with: [0x49, 0x49, 42, 0]),
      var words = TIFFWords(block, behind: size),
      let own = ownEntries(output.descriptor, at: Int(littleEndianBytes: header[4...]))
    else { return }
    let known = Set(own.entries.map(\.tag))
    let new = words.entries(at: words.number(4, 4), depth: 0) { ofFile.contains($0) || inner.contains($0) }
      .filter { !known.contains($0.tag) }
    guard !new.isEmpty else { return }
    let place = words.append(own.entries + new, next: own.next)
    guard lseek(output.descriptor, 0, SEEK_END) == off_t(size) else { return }
    try unsafe output.write(words.tail.span.bytes)
    let pointer = [UInt8](littleEndian: place, count: 4)
    guard unsafe pwrite(output.descriptor, pointer, 4, 4) == 4 else {
      throw JobFailure("cannot be written", errno: errno)
    }
  }

  private init?(_ block: [UInt8], behind size: Int) {
    start = block.starts(with: "Exif\0\0".utf8) ? 6 : 0
    guard block.count >= start + 8 else { return nil }
    self.block = block
    isBigEndian = block[start] == 0x4D
    // Directories start at even offsets.
    end = size
    if size % 2 == 1 { tail.append(0) }
  }

  // MARK: The file's directory

  private static func ownEntries(_ descriptor: Int32, at place: Int) -> (entries: [Entry], next: Int)? {
    var count: [UInt8] = [0, 0]
    guard unsafe pread(descriptor, &count, 2, off_t(place)) == 2 else { return nil }
    var table = [UInt8](repeating: 0, count: 12 * Int(littleEndianBytes: count) + 4)
    guard unsafe pread(descriptor, &table, table.count, off_t(place) + 2) == table.count else { return nil }
    let entries = stride(from: 0, to: table.count - 4, by: 12).map { at in
      Entry(tag: Int(littleEndianBytes: table[at..<(at + 2)]), rest: Array(table[(at + 2)..<(at + 12)]))
    }
    return (entries, Int(littleEndianBytes: table[(table.count - 4)...]))
  }

  // MARK: The EXIF block

  /// Returns a number in the block. Returns 0 beyond its end.
  private func number(_ offset: Int, _ count: Int) -> Int {
    guard let part = part(offset, count) else { return 0 }
    return isBigEndian ? Int(bigEndianBytes: part) : Int(littleEndianBytes: part)
  }

  private func part(_ offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
    let from = start + offset
    guard offset >= 0, count >= 0, count <= block.count, from <= block.count - count else { return nil }
    return block[from..<(from + count)]
  }

  /// Returns the entries of a directory. Values that do not fit into an entry are appended to the file.
  private mutating func entries(at place: Int, depth: Int, where isWanted: (Int) -> Bool) -> [Entry] {
    var found: [Entry] = []
    var seen: Set<Int> = []
    for index in 0..<number(place, 2) {
      let at = place + 2 + 12 * index
      let tag = number(at, 2)
      // Values may overlap, but a valid block never yields more than its own size.
      guard part(at, 12) != nil, tail.count <= 2 * block.count else { break }
      guard isWanted(tag), seen.insert(tag).inserted else { continue }
      if TIFFWords.inner.contains(tag) {
        guard depth < 2 else { continue }
        let inside = entries(at: number(at + 8, 4), depth: depth + 1) { _ in true }
        guard !inside.isEmpty else { continue }
        found.append(entry(tag, type: 4, count: 1, [UInt8](littleEndian: append(inside, next: 0), count: 4)))
      } else if let value = value(at) {
        found.append(entry(tag, type: number(at + 2, 2), count: number(at + 4, 4), value))
      }
    }
    return found
  }

  /// Returns the value of the entry at an offset, little-endian. Returns `nil` if it is not entirely inside the block.
  private func value(_ at: Int) -> [UInt8]? {
    // The size of a value in bytes, and the unit of byte swapping, by type from 1 on.
    let sizes = [(1, 1), (1, 1), (2, 2), (4, 4), (8, 4), (1, 1), (1, 1), (2, 2), (4, 4), (8, 4), (4, 4), (8, 8)]
    let type = number(at + 2, 2)
    guard (1...sizes.count).contains(type) else { return nil }
    let (size, unit) = sizes[type - 1]
    let count = number(at + 4, 4) * size
    guard let bytes = part(count <= 4 ? at + 8 : number(at + 8, 4), count) else { return nil }
    guard isBigEndian, unit > 1 else { return Array(bytes) }
    return stride(from: bytes.startIndex, to: bytes.endIndex, by: unit).flatMap { bytes[$0..<($0 + unit)].reversed() }
  }

  private mutating func entry(_ tag: Int, type: Int, count: Int, _ value: [UInt8]) -> Entry {
    var field = value + Array(repeating: 0, count: max(0, 4 - value.count))
    if value.count > 4 {
      field = [UInt8](littleEndian: end + tail.count, count: 4)
      tail += value + (value.count % 2 == 1 ? [0] : [])
    }
    return Entry(tag: tag, rest: [UInt8](littleEndian: type, count: 2) + [UInt8](littleEndian: count, count: 4) + field)
  }

  /// Appends a directory of these entries. Returns its offset.
  private mutating func append(_ entries: [Entry], next: Int) -> Int {
    let place = end + tail.count
    tail += [UInt8](littleEndian: entries.count, count: 2)
    for entry in entries.sorted(by: { $0.tag < $1.tag }) {
      tail += [UInt8](littleEndian: entry.tag, count: 2) + entry.rest
    }
    tail += [UInt8](littleEndian: next, count: 4)
    return place
  }
}
