internal import CArchive
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An archive as libarchive reads it, entry by entry.
@safe final class ArchiveFile {
  let input: JobInput
  let handle: OpaquePointer
  /// The entry that `next` was called for last.
  private(set) var entry: OpaquePointer?
  /// How many entries there were before it.
  private(set) var number = -1
  private var isOpen = false
  /// Whether it has to be opened again for what follows.
  private(set) var isBroken = false
  /// Whether the present entry's bytes do not have their checksum.
  private(set) var isWrong = false
  /// Whether any of its bytes have been decoded.
  private var hasDecoded = false
  /// What is read one after the other; nil if it is the input.
  private var pieces: Pieces?
  /// Why entries seem to be lost before the last one; nil if they do not.
  private(set) var gap: String?
  /// Headers that could not be read, one after the other.
  private var unreadable = 0

  /// Then it is no archive any more.
  private static let mostUnreadable = 1000

  private static let rpmMark: [UInt8] = [0xed, 0xab, 0xee, 0xdb]
  private static let rpmStep = 10 << 10

  init(_ input: JobInput) throws(JobFailure) {
    guard let handle = unsafe archive_read_new() else { throw .noMemory() }
    self.input = input
    unsafe self.handle = unsafe handle
    let isList = input.starts(with: Array("#mtree".utf8))
    let isText = unsafe !input.bytes.prefix(512).contains(0)
    unsafe Self.support(handle, lists: isList, texts: isText)
    let bytes = unsafe input.bytes
    // All at once: what is stored as it is then lies where it is mapped. The filter for RPM wants pieces.
    let step = input.starts(with: Self.rpmMark) ? Self.rpmStep : bytes.count
    guard unsafe archive_read_open_memory2(handle, bytes.baseAddress, bytes.count, step) == ARCHIVE_OK else {
      throw failure
    }
    isOpen = true
  }

  /// A ZIP archive's entry: `header` is read before the input's bytes.
  init(_ input: JobInput, behind header: [UInt8]) throws(JobFailure) {
    guard let handle = unsafe archive_read_new() else { throw .noMemory() }
    self.input = input
    unsafe self.handle = unsafe handle
    _ = unsafe archive_read_support_format_zip_streamable(handle)
    // Not all record one; it is checked by whoever reads.
    _ = unsafe archive_read_set_format_option(handle, "zip", "ignorecrc32", "1")
    let pieces = unsafe Pieces(header, input.bytes)
    self.pieces = pieces
    let code = unsafe archive_read_open(
      handle, Unmanaged.passUnretained(pieces).toOpaque(), nil,
      { _, pieces, start in
        guard let pieces = unsafe pieces, let start = unsafe start else { return -1 }
        let next = unsafe Unmanaged<Pieces>.fromOpaque(pieces).takeUnretainedValue().next()
        unsafe start.pointee = next.baseAddress
        return next.count
      }, nil)
    guard code == ARCHIVE_OK else { throw failure }
    isOpen = true
  }

  deinit { unsafe archive_read_free(handle) }

  /// Filters that would start other programs are left out, and formats that have parsers of their own here.
  /// `lists` says that it is one of mtree, `texts` that it may be one.
  private static func support(_ handle: OpaquePointer, lists: Bool, texts: Bool) {
    if lists || texts { unsafe archive_read_support_format_mtree(handle) }
    if lists { return }
    let filters = unsafe [
      archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_compress,
      archive_read_support_filter_xz, archive_read_support_filter_lzma, archive_read_support_filter_lzip,
      archive_read_support_filter_zstd, archive_read_support_filter_lz4, archive_read_support_filter_rpm,
    ]
    let formats = unsafe [
      archive_read_support_format_7zip, archive_read_support_format_rar, archive_read_support_format_rar5,
      archive_read_support_format_iso9660, archive_read_support_format_cpio, archive_read_support_format_ar,
      archive_read_support_format_cab, archive_read_support_format_lha, archive_read_support_format_xar,
      archive_read_support_format_warc,
      // In an RPM package.
      archive_read_support_format_tar,
    ]
    let all = unsafe filters + formats
    for index in unsafe all.indices { _ = unsafe all[index](handle) }
  }

  /// What the library said last.
  var words: String { unsafe archive_error_string(handle).map { unsafe String(cString: $0) } ?? "" }

  /// Why nothing of it can be read.
  var failure: JobFailure {
    let code = unsafe archive_errno(handle)
    if code == ENOMEM { return .noMemory(saying: words) }
    // Of what it has not recognized the library must not be asked.
    let isEncrypted = unsafe isOpen && archive_read_has_encrypted_entries(handle) == 1
    if isEncrypted || words.contains("ncrypt") || isOpen && !encrypted.isEmpty { return Self.encrypted }
    return JobFailure(.damaged, "cannot be read", saying: words)
  }

  static let encrypted = JobFailure(.locked, EntryRecord.encryption)

  /// Goes on to the next entry; false at the end. Throws when there is no going on.
  func next() throws(JobFailure) -> Bool {
    // Passing over the bytes of a solid 7z, once some were decoded, or over the rest of those of a WARC, fails in libarchive
    // 3.6 where reading them does not.
    if format == ARCHIVE_FORMAT_7ZIP && hasDecoded || format == ARCHIVE_FORMAT_WARC && number >= 0 {
      while unsafe (try? block()) != nil {}
    }
    while true {
      let code = unsafe archive_read_next_header(handle, &entry)
      switch code {
      case ARCHIVE_OK, ARCHIVE_WARN:
        noteGap(code)
        number += 1
        isWrong = false
        // In a 7z, a link's target lies among the bytes of files.
        if unsafe archive_entry_symlink(entry) != nil { hasDecoded = true }
        return true
      case ARCHIVE_EOF:
        noteGap(code)
        return false
      case ARCHIVE_RETRY where unreadable < Self.mostUnreadable: unreadable += 1
      default: throw failure
      }
    }
  }

  /// Notes where the library has passed over what is no header of cpio, to the next that is one: of that it says nothing
  /// when what it finds is the end.
  private func noteGap(_ code: Int32) {
    guard gap == nil, format == ARCHIVE_FORMAT_CPIO else { return }
    let place = headerPlace
    let isToldOf = code == ARCHIVE_WARN && words.hasPrefix("Skipped")
    let isElsewhere = !isFiltered && !CpioHeader.isStart(input, at: place)
    let endSize = code == ARCHIVE_EOF ? unsafe CpioHeader.endSize(archive_format(handle)) : nil
    let isEndElsewhere = endSize.map { unsafe archive_filter_bytes(handle, 0) - place != $0 } ?? false
    guard isToldOf || isElsewhere || isEndElsewhere else { return }
    gap = "has no entry at byte \(place), where one should be: files may be missing"
  }

  /// The next of the entry's bytes; nil at their end. Throws when they break off, or are wrong as a whole by their
  /// checksum, which shows only at their end.
  func block() throws(JobFailure) -> Block? {
    hasDecoded = true
    var start: UnsafeRawPointer?
    var (count, offset) = (0, Int64(0))
    let code = unsafe archive_read_data_block(handle, &start, &count, &offset)
    if code == ARCHIVE_EOF { return nil }
    guard code == ARCHIVE_OK else {
      // A warning comes with the last bytes of what does not have its checksum.
      isWrong = code == ARCHIVE_WARN
      isBroken = isBroken || code == ARCHIVE_FATAL
      throw JobFailure(.damaged, "cannot be decoded", saying: words)
    }
    return unsafe Block(bytes: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), offset: offset)
  }

  @unsafe
  struct Block {
    /// Valid until the next call.
    let bytes: UnsafeRawBufferPointer
    /// In the entry.
    let offset: Int64
  }

  /// Where a block is in the archive itself; nil if it was decoded, or copied.
  func place(of block: Block) -> Int64? {
    guard let all = unsafe input.bytes.baseAddress, let start = unsafe block.bytes.baseAddress else { return nil }
    let place = Int(bitPattern: start) - Int(bitPattern: all)
    guard place >= 0, unsafe block.bytes.count <= input.count, unsafe place <= input.count - block.bytes.count else {
      return nil
    }
    return Int64(place)
  }

  /// Where the present entry's header is in what is decompressed of the archive.
  var headerPlace: Int64 { unsafe archive_read_header_position(handle) }

  private var format: Int32 { unsafe archive_format(handle) & ARCHIVE_FORMAT_BASE_MASK }

  var isFiltered: Bool { unsafe archive_filter_code(handle, 0) != ARCHIVE_FILTER_NONE }

  /// Whether files lie in it as they are, most of them.
  var isPlain: Bool {
    let plain = [
      ARCHIVE_FORMAT_ISO9660, ARCHIVE_FORMAT_CPIO, ARCHIVE_FORMAT_AR, ARCHIVE_FORMAT_WARC,
    ]
    return !isFiltered && plain.contains(format)
  }

  /// Whether an entry of ar is a table of symbols or of long names.
  func isTableOfNames(_ path: [UInt8]) -> Bool {
    format == ARCHIVE_FORMAT_AR && [Array("/".utf8), Array("//".utf8), Array("/SYM64/".utf8)].contains(path)
  }

  /// Whether it says of files what they are, and has none.
  var isListOnly: Bool { format == ARCHIVE_FORMAT_MTREE }

  /// Whether zeros at the end of a file have no block: compressed files of discs (zisofs).
  var endsInHoles: Bool { format == ARCHIVE_FORMAT_ISO9660 }

  /// Whether an entry can be decoded only after those before it.
  var isSolid: Bool {
    switch format {
    case ARCHIVE_FORMAT_7ZIP, ARCHIVE_FORMAT_CAB: true
    case ARCHIVE_FORMAT_RAR: RarHeader.isSolid(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.isSolid5(input)
    default: isFiltered
    }
  }

  /// The CRC-32 of entries that the library does not check, by their numbers, with their sizes.
  private(set) lazy var uncheckedSums: [Int: (crc: UInt32, size: Int64)] =
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.storedSums(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.storedSums5(input)
    default: [:]
    }

  /// Whether reading an entry compares it with a checksum.
  var hasChecksums: Bool {
    [
      ARCHIVE_FORMAT_7ZIP, ARCHIVE_FORMAT_RAR, ARCHIVE_FORMAT_RAR_V5, ARCHIVE_FORMAT_CAB, ARCHIVE_FORMAT_LHA,
      ARCHIVE_FORMAT_XAR,
    ].contains(format)
  }

  /// The numbers of entries that are encrypted without the library's saying so.
  private(set) lazy var encrypted: Set<Int> =
    format == ARCHIVE_FORMAT_RAR_V5 ? RarHeader.encrypted5(input) : []

  /// Whether it is a part of a RAR archive that another one follows, which is not there.
  var lacksNextPart: Bool {
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.goesOn(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.goesOn5(input)
    default: false
    }
  }

  /// Whether its last header, or what says that there is no other, is not there.
  var isCutOff: Bool {
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.isCutOff(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.isCutOff5(input)
    default: false
    }
  }

  /// How much of it was read, in thousandths.
  var thousandths: Int64 {
    let read = unsafe archive_filter_bytes(handle, -1)
    return min(1000, max(0, read) / max(1, Int64(input.count) / 1000))
  }
}

/// A header, and then bytes that lie elsewhere.
@safe private final class Pieces {
  private let header: UnsafeMutableRawBufferPointer
  private let rest: UnsafeRawBufferPointer
  private var count = 0

  /// `rest` stays where it is as long as this is used.
  init(_ header: [UInt8], _ rest: UnsafeRawBufferPointer) {
    unsafe self.header = .allocate(byteCount: header.count, alignment: 1)
    unsafe self.header.copyBytes(from: header)
    unsafe self.rest = rest
  }

  deinit { unsafe header.deallocate() }

  /// The next one, empty at the end.
  func next() -> UnsafeRawBufferPointer {
    count += 1
    switch count {
    case 1: return unsafe UnsafeRawBufferPointer(header)
    case 2: return unsafe rest
    default: return unsafe UnsafeRawBufferPointer(rebasing: rest[rest.count...])
    }
  }
}
