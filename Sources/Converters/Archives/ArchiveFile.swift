internal import CArchive
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An archive that libarchive reads entry by entry.
@safe final class ArchiveFile {
  let input: JobInput
  let handle: OpaquePointer
  /// The current entry, set by `next`.
  private(set) var entry: OpaquePointer?
  /// The number of entries before the current one.
  private(set) var number = -1
  private var isOpen = false
  /// Whether the archive must be opened again to read later entries.
  private(set) var isBroken = false
  /// Whether the current entry's bytes do not match their checksum.
  private(set) var isWrong = false
  /// Whether any bytes of the archive's entries have been decoded.
  private var hasDecoded = false
  /// The blocks that are read in sequence. `nil` if the input is read.
  private var pieces: Pieces?
  /// The reason to assume that entries before the last one are missing. `nil` if there is none.
  private(set) var gap: String?
  /// The number of headers that could not be read.
  private var unreadable = 0

  /// The maximum number of unreadable headers. The input is not an archive if it has more.
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
    // One read returns the whole input, so that the blocks of stored entries point into the mapping. The filter for RPM
    // needs smaller reads.
    let step = input.starts(with: Self.rpmMark) ? Self.rpmStep : bytes.count
    guard unsafe archive_read_open_memory2(handle, bytes.baseAddress, bytes.count, step) == ARCHIVE_OK else {
      throw failure
    }
    isOpen = true
  }

  /// Opens a single entry of a ZIP archive. `header` is read before the input's bytes.
  init(_ input: JobInput, behind header: [UInt8]) throws(JobFailure) {
    guard let handle = unsafe archive_read_new() else { throw .noMemory() }
    self.input = input
    unsafe self.handle = unsafe handle
    _ = unsafe archive_read_support_format_zip_streamable(handle)
    // Not all entries record a CRC. The caller checks it.
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

  /// Enables filters and formats, except filters that start other programs and formats that ffmount parses itself.
  /// `lists` tells that the input is an mtree list, `texts` that it may be one.
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
      // The content of RPM packages.
      archive_read_support_format_tar,
    ]
    let all = unsafe filters + formats
    for index in unsafe all.indices { _ = unsafe all[index](handle) }
  }

  /// The library's last message.
  var words: String { unsafe archive_error_string(handle).map { unsafe String(cString: $0) } ?? "" }

  /// The reason why the archive cannot be read.
  var failure: JobFailure {
    let code = unsafe archive_errno(handle)
    if code == ENOMEM { return .noMemory(saying: words) }
    // The library must not be queried about an archive whose format it has not recognized.
    let isEncrypted = unsafe isOpen && archive_read_has_encrypted_entries(handle) == 1
    if isEncrypted || words.contains("ncrypt") || isOpen && !encrypted.isEmpty { return Self.encrypted }
    return JobFailure(.damaged, "cannot be read", saying: words)
  }

  static let encrypted = JobFailure(.locked, EntryRecord.encryption)

  /// Advances to the next entry. Returns false at the end. Throws if the archive cannot be read any further.
  func next() throws(JobFailure) -> Bool {
    // libarchive 3.6 fails when it skips bytes of a solid 7z after decoding some, or the rest of a WARC record. Reading
    // them succeeds.
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
        // A 7z stores a link's target among the bytes of files.
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

  /// Records a gap if the library skipped bytes that are not a cpio header. The library does not report this if the
  /// next header that it finds is the trailer.
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

  /// Returns the next block of the entry, or `nil` at its end. Throws if the bytes break off or do not match their
  /// checksum, which is detected only at the end.
  func block() throws(JobFailure) -> Block? {
    hasDecoded = true
    var start: UnsafeRawPointer?
    var (count, offset) = (0, Int64(0))
    let code = unsafe archive_read_data_block(handle, &start, &count, &offset)
    if code == ARCHIVE_EOF { return nil }
    guard code == ARCHIVE_OK else {
      // A warning accompanies the last bytes of an entry that does not match its checksum.
      isWrong = code == ARCHIVE_WARN
      isBroken = isBroken || code == ARCHIVE_FATAL
      throw JobFailure(.damaged, "cannot be decoded", saying: words)
    }
    return unsafe Block(bytes: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), offset: offset)
  }

  @unsafe
  struct Block {
    /// The bytes, valid until the next call.
    let bytes: UnsafeRawBufferPointer
    /// The offset in the entry.
    let offset: Int64
  }

  /// Returns the offset of a block in the archive itself. Returns `nil` if the block was decoded or copied.
  func place(of block: Block) -> Int64? {
    guard let all = unsafe input.bytes.baseAddress, let start = unsafe block.bytes.baseAddress else { return nil }
    let place = Int(bitPattern: start) - Int(bitPattern: all)
    guard place >= 0, unsafe block.bytes.count <= input.count, unsafe place <= input.count - block.bytes.count else {
      return nil
    }
    return Int64(place)
  }

  /// The offset of the current entry's header in the decompressed archive.
  var headerPlace: Int64 { unsafe archive_read_header_position(handle) }

  private var format: Int32 { unsafe archive_format(handle) & ARCHIVE_FORMAT_BASE_MASK }

  var isFiltered: Bool { unsafe archive_filter_code(handle, 0) != ARCHIVE_FILTER_NONE }

  /// Whether the archive stores most files without compression.
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

  /// Whether the archive only describes files and does not contain their bytes.
  var isListOnly: Bool { format == ARCHIVE_FORMAT_MTREE }

  /// Whether zeros at the end of a file have no block, as in compressed files of discs (zisofs).
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

  /// The CRC-32 and size of entries that the library does not check, by entry number.
  private(set) lazy var uncheckedSums: [Int: (crc: UInt32, size: Int64)] =
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.storedSums(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.storedSums5(input)
    default: [:]
    }

  /// Whether the library compares entries with a checksum while reading them.
  var hasChecksums: Bool {
    [
      ARCHIVE_FORMAT_7ZIP, ARCHIVE_FORMAT_RAR, ARCHIVE_FORMAT_RAR_V5, ARCHIVE_FORMAT_CAB, ARCHIVE_FORMAT_LHA,
      ARCHIVE_FORMAT_XAR,
    ].contains(format)
  }

  /// The numbers of entries without a checksum, where the format permits such entries.
  private(set) lazy var unchecked: Set<Int> =
    format == ARCHIVE_FORMAT_RAR_V5 ? RarHeader.unchecked5(input) : []

  /// The numbers of encrypted entries that the library does not report as encrypted.
  private(set) lazy var encrypted: Set<Int> =
    format == ARCHIVE_FORMAT_RAR_V5 ? RarHeader.encrypted5(input) : []

  /// The paths of the entries that entries without bytes are copies of, by entry number.
  private(set) lazy var copies: [Int: [UInt8]] =
    format == ARCHIVE_FORMAT_RAR_V5 ? RarHeader.copies5(input) : [:]

  /// Whether the input is a part of a RAR archive and the part that follows it is missing.
  var lacksNextPart: Bool {
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.goesOn(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.goesOn5(input)
    default: false
    }
  }

  /// Whether the archive's header does not match a checksum that the library does not compare.
  var hasWrongHeader: Bool { format == ARCHIVE_FORMAT_7ZIP && !SevenZipHeader.isRight(input) }

  /// Whether the last header or the end mark is missing.
  var isCutOff: Bool {
    switch format {
    case ARCHIVE_FORMAT_RAR: RarHeader.isCutOff(input)
    case ARCHIVE_FORMAT_RAR_V5: RarHeader.isCutOff5(input)
    default: false
    }
  }

  /// The fraction of the archive that was read, in thousandths.
  var thousandths: Int64 {
    let read = unsafe archive_filter_bytes(handle, -1)
    return min(1000, max(0, read) / max(1, Int64(input.count) / 1000))
  }
}

/// A header followed by bytes in another buffer.
@safe private final class Pieces {
  private let header: UnsafeMutableRawBufferPointer
  private let rest: UnsafeRawBufferPointer
  private var count = 0

  /// Copies the header. `rest` must stay valid while this object is used.
  init(_ header: [UInt8], _ rest: UnsafeRawBufferPointer) {
    unsafe self.header = .allocate(byteCount: header.count, alignment: 1)
    unsafe self.header.copyBytes(from: header)
    unsafe self.rest = rest
  }

  deinit { unsafe header.deallocate() }

  /// Returns the next piece, which is empty at the end.
  func next() -> UnsafeRawBufferPointer {
    count += 1
    switch count {
    case 1: return unsafe UnsafeRawBufferPointer(header)
    case 2: return unsafe rest
    default: return unsafe UnsafeRawBufferPointer(rebasing: rest[rest.count...])
    }
  }
}
