internal import Bytes
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// Appends the pages of further TIFF files to one that is already written. All are written by libvips, little-endian
/// and with 32-bit offsets (TIFF 6.0, section 2).
struct TIFFPages {
  private let output: JobOutput
  /// The offset of the field that points to the next page.
  private var end: Int

  private static let header: [UInt8] = [0x49, 0x49, 42, 0]
  /// The tags for the offsets of strips and tiles.
  private static let places: Set<Int> = [273, 324]
  /// The size of a value, in bytes, by type from 1 on.
  private static let sizes = [1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

  init(behind output: JobOutput) throws(JobFailure) {
    self.output = output
    func number(_ place: Int, _ count: Int) throws(JobFailure) -> Int {
      var bytes = [UInt8](repeating: 0, count: count)
      guard unsafe pread(output.descriptor, &bytes, count, off_t(place)) == count else { throw TIFFPages.failure }
      return bytes.number(0, count)
    }
    guard try number(0, 4) == TIFFPages.header.number(0, 4) else { throw TIFFPages.failure }
    let directory = try number(4, 4)
    end = try directory + 2 + 12 * number(directory, 2)
  }

  /// Appends the single page of a file.
  mutating func add(_ file: [UInt8]) throws(JobFailure) {
    let size = lseek(output.descriptor, 0, SEEK_END)
    guard size >= 0 else { throw TIFFPages.failure }
    // Directories start at even offsets.
    let start = Int(size) + Int(size) % 2
    guard start + file.count <= Job.usualOutput, file.starts(with: TIFFPages.header) else { throw TIFFPages.failure }
    var moved = file
    let directory = file.number(4, 4)
    for entry in 0..<file.number(directory, 2) { try move(entry: directory + 2 + 12 * entry, in: &moved, by: start) }
    let gap = [UInt8](repeating: 0, count: start - Int(size))
    try unsafe output.write(gap.span.bytes)
    try unsafe output.write(moved.span.bytes)
    var place = [UInt8](repeating: 0, count: 4)
    place.set(directory + start, at: 0)
    guard unsafe pwrite(output.descriptor, place, 4, off_t(end)) == 4 else {
      throw JobFailure("cannot be written", errno: errno)
    }
    end = start + directory + 2 + 12 * file.number(directory, 2)
  }

  private func move(entry: Int, in file: inout [UInt8], by distance: Int) throws(JobFailure) {
    let type = file.number(entry + 2, 2)
    let count = file.number(entry + 4, 4)
    guard (1...TIFFPages.sizes.count).contains(type) else { throw TIFFPages.failure }
    let isOutside = TIFFPages.sizes[type - 1] * count > 4
    if TIFFPages.places.contains(file.number(entry, 2)) {
      guard type == 4 else { throw TIFFPages.failure }
      let first = isOutside ? file.number(entry + 8, 4) : entry + 8
      for at in stride(from: first, to: first + 4 * count, by: 4) { file.set(file.number(at, 4) + distance, at: at) }
    }
    if isOutside { file.set(file.number(entry + 8, 4) + distance, at: entry + 8) }
  }

  private static var failure: JobFailure { JobFailure(.system, "has pages that cannot be combined") }
}

extension [UInt8] {
  /// Returns a little-endian number. Bytes beyond the end are 0.
  fileprivate func number(_ place: Int, _ size: Int) -> Int {
    Int(littleEndianBytes: dropFirst(place).prefix(size))
  }

  /// Stores four bytes, except those beyond the end of the array.
  fileprivate mutating func set(_ number: Int, at place: Int) {
    for index in 0..<4 where place + index < count {
      self[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
    }
  }
}
