internal import Bytes
internal import Catalogue
internal import WorkerKit

/// The directories of a TIFF file, one per image: TIFF 6.0, section 2, and BigTIFF.
struct TIFFFile {
  /// The parts of a directory that determine which image it describes.
  struct Page {
    /// The directory's offset, and the offset of the field that points to the next one.
    let place: Int
    let nextPlace: Int
    /// The entries' values, or their offsets, by tag.
    fileprivate var values: [Int: Int] = [:]
    fileprivate var subdirectories: [Int] = []
    /// The offsets of fields to be patched, by tag.
    fileprivate var fields: [Int: Int] = [:]

    /// The EXIF orientation.
    var orientation: Int { values[274] ?? 1 }
    /// Whether this is a reduced version of another image, or its transparency mask, and not a page.
    fileprivate var isAside: Bool { values[254, default: 0] & 5 != 0 }
    /// Whether this is sensor data of a camera.
    fileprivate var isRaw: Bool { [32803, 34892].contains(values[262]) }
    /// Whether colours are YCbCr outside JPEG data.
    var isYCbCr: Bool { values[262] == 6 && values[259] != 7 }
    /// Whether this is JPEG data according to TIFF 6.0, section 22.
    var isOldJPEG: Bool { values[259] == 6 }
    /// The bits per sample if libvips does not support the layout of the samples. Nil otherwise. Unsupported are packed
    /// samples of 10, 12 or 14 bits, or of fewer than 8 in several channels, and tiles of one channel each.
    var unreadBits: Int? {
      let bits = values[258, default: 1]
      guard let colours = values[262], values[259] != 7 else { return nil }
      let isPacked =
        ([10, 12, 14].contains(bits) || samples > 1 && [1, 2, 4].contains(bits)) && (0...2).contains(colours)
      let isInPlanes = isTiled && isPlanar && [8, 16, 32].contains(bits) && [1, 2, 5].contains(colours)
      return isPacked || isInPlanes ? bits : nil
    }
    /// Whether black is the largest number.
    var isInverted: Bool { values[262] == 0 }
    /// Whether colours are premultiplied by alpha.
    var isPremultiplied: Bool { values[338] == 1 }
    /// Whether each channel is stored separately.
    var isPlanar: Bool { values[284] == 2 }
    var isTiled: Bool { tileWidth > 0 }
    /// The width of a tile, in pixels. 0 if the image is stored in strips.
    var tileWidth: Int { values[322, default: 0] }
    var tileHeight: Int { values[323, default: 0] }
    /// The number of samples per pixel.
    var samples: Int { min(32, max(1, values[277, default: 1])) }
  }

  /// The pages in order. Never empty.
  let pages: [Page]
  /// The reason why the list of pages is incomplete. Nil if it is complete.
  let damage: JobFailure?
  /// Whether the file is a raw photo. Its other images are thumbnails.
  let isRawPhoto: Bool
  private let isBig: Bool
  private let isBigEndian: Bool
  private let input: InputReader

  static let mostPages = 65_536
  /// The maximum number of entries in all directories.
  private static let mostEntries = 1 << 22

  /// Reads all directories. Returns `nil` if the file is not a TIFF file or has no directory. O(entries).
  init?(_ input: JobInput) {
    isBigEndian = input.starts(with: [0x4D, 0x4D])
    guard isBigEndian || input.starts(with: [0x49, 0x49]) else { return nil }
    let bytes = InputReader(input, isBigEndian: isBigEndian)
    self.input = bytes
    isBig = bytes.word(2, 2) == 43
    guard isBig || bytes.word(2, 2) == 42 else { return nil }
    var walk = Walk(bytes, isBig: isBig)
    var found: [Page] = []
    var damage: JobFailure?
    var place = isBig ? bytes.word(8, 8) : bytes.word(4, 4)
    while place != 0 {
      do throws(JobFailure) {
        let page = try walk.page(at: place)
        found.append(page)
        place = isBig ? bytes.word(page.nextPlace, 8) : bytes.word(page.nextPlace, 4)
      } catch {
        damage = error
        break
      }
    }
    guard let first = found.first else { return nil }
    let inner = found.flatMap { page in page.subdirectories.compactMap { try? walk.page(at: $0) } }
    let isCanon = !isBig && input.starts(with: Array("II*\0\u{10}\0\0\0CR".utf8))
    let version = 50706
    isRawPhoto = isCanon || first.values[version] != nil || (found + inner).contains(where: \.isRaw)
    let shown = (found + (first.isAside ? inner : [])).filter { !$0.isAside }
    pages = shown.isEmpty ? [first] : shown
    self.damage = damage
  }

  /// One of the pages, and the patches that make it the only page.
  struct Selection {
    let file: TIFFFile
    let page: Page
    var patches: [InputStream.Patch] {
      let end = file.directory(for: page).place
      return file.patches(for: page, at: end)
    }
    /// Bytes to append to the file: the directory of a page that lacks a field, with that field.
    var tail: [UInt8] { file.directory(for: page).tail }
    /// The patches for reading everything except the pixels of a page with libvips, which supports neither YCbCr nor
    /// packed samples, nor tiles of one channel.
    var headerPatches: [InputStream.Patch] {
      let (photometric, subsampling, bits, planes) = (262, 530, 258, 284)
      var changes: [(Int, [Int])] = page.isYCbCr ? [(photometric, [2]), (subsampling, [1, 1])] : [(planes, [1])]
      if let found = page.unreadBits, found % 8 != 0 {
        changes.append((bits, Array(repeating: 16, count: page.samples)))
      }
      return patches
        + changes.compactMap { tag, values in
          page.fields[tag].map { InputStream.Patch(place: $0, bytes: values.flatMap { file.bytes($0, 2) }) }
        }
    }
  }

  func page(at index: Int) -> Selection { Selection(file: self, page: pages[index]) }

  private func patches(for page: Page, at place: Int) -> [InputStream.Patch] {
    let size = isBig ? 8 : 4
    return [
      InputStream.Patch(place: size, bytes: bytes(place, size)),
      InputStream.Patch(place: page.nextPlace, bytes: bytes(0, size)),
    ]
  }

  /// Returns the offset of a page's directory, and the bytes to append to the file for it. libvips does not read a page
  /// without PhotometricInterpretation, so that it is added: as in Pillow, white is 0 unless the page has a palette or
  /// three colours.
  private func directory(for page: Page) -> (place: Int, tail: [UInt8]) {
    let photometric = 262
    guard page.values[photometric] == nil, !isRawPhoto, !page.isOldJPEG else { return (page.place, []) }
    let meaning = page.samples > 2 ? 2 : page.values[320] != nil ? 3 : 0
    let (head, size, width) = isBig ? (8, 20, 8) : (2, 12, 4)
    let count = input.word(page.place, head)
    let entry = bytes(photometric, 2) + bytes(3, 2) + bytes(1, width) + bytes(meaning, 2)
    var entries = (0..<count).map { page.place + head + size * $0 }.map { place in
      (tag: input.word(place, 2), bytes: (place..<place + size).map(input.byte))
    }
    let added = entry + [UInt8](repeating: 0, count: size - entry.count)
    entries.insert((photometric, added), at: entries.firstIndex { $0.tag > photometric } ?? entries.endIndex)
    let padding = input.count % 2
    return (
      input.count + padding,
      [UInt8](repeating: 0, count: padding) + bytes(count + 1, head) + entries.flatMap(\.bytes) + bytes(0, width)
    )
  }

  private func bytes(_ number: Int, _ size: Int) -> [UInt8] {
    isBigEndian ? [UInt8](bigEndian: number, count: size) : [UInt8](littleEndian: number, count: size)
  }

  /// Visits directories, each one once.
  private struct Walk {
    private let bytes: InputReader
    private let isBig: Bool
    private var seen: Set<Int> = []
    private var entries = 0

    private static let wanted: Set<Int> = [
      254, 258, 259, 262, 274, 277, 284, 320, 322, 323, 330, 338, 530, 50706,
    ]
    private static let mostSubdirectories = 16

    init(_ bytes: InputReader, isBig: Bool) {
      self.bytes = bytes
      self.isBig = isBig
    }

    mutating func page(at place: Int) throws(JobFailure) -> Page {
      let (head, size, width) = isBig ? (8, 20, 8) : (2, 12, 4)
      guard place >= 8, place <= bytes.count - head else {
        throw JobFailure(.damaged, "ends before its page \(seen.count + 1)")
      }
      guard seen.insert(place).inserted else {
        throw JobFailure(.damaged, "has pages that lead back to one another")
      }
      let count = bytes.word(place, head)
      let start = place + head
      guard count > 0, count <= (bytes.count - start) / size, start + count * size <= bytes.count - width else {
        throw JobFailure(.damaged, "ends within its page \(seen.count)")
      }
      entries += count
      guard seen.count <= TIFFFile.mostPages, entries <= TIFFFile.mostEntries else {
        throw JobFailure(.limit, "has more than \(seen.count - 1) pages, which is too many")
      }
      var page = Page(place: place, nextPlace: start + count * size)
      for at in stride(from: start, to: page.nextPlace, by: size) {
        let tag = bytes.word(at, 2)
        if Walk.wanted.contains(tag) { take(tag, at, &page) }
      }
      return page
    }

    private func take(_ tag: Int, _ at: Int, _ page: inout Page) {
      // By type: SHORT, LONG and IFD, LONG8 and IFD8; other types are not needed here.
      let type = bytes.word(at + 2, 2)
      let size = [3: 2, 4: 4, 13: 4, 16: 8, 18: 8][type] ?? 1
      let width = isBig ? 8 : 4
      let count = bytes.word(at + 4, width)
      let field = at + 4 + width
      guard count > 0 else { return }
      let place = count <= width / size ? field : bytes.word(field, width)
      if tag == 330 {
        let count = min(count, Walk.mostSubdirectories)
        page.subdirectories = (0..<count).map { bytes.word(place + size * $0, size) }
      } else if page.values[tag] == nil {
        page.values[tag] = bytes.word(place, size)
        if size == 2 { page.fields[tag] = place }
      }
    }
  }
}
