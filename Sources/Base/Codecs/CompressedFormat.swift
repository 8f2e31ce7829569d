public import Bytes

/// The compression format of a whole file.
public enum CompressedFormat: UInt8, Sendable, CaseIterable {
  case gzip = 1
  case bzip2
  case xz
  case zstd
  case lz4
  case lzip
  /// The first format of liblzma.
  case lzma
  /// The format of compress(1).
  case compress
  case brotli

  /// The number of leading bytes that identify a format.
  public static let headSize = 32

  /// Detects the format by a file's first bytes. Returns `nil` if the file is not compressed, or if it is compressed by
  /// Brotli, which has no mark.
  public init?(startingWith head: ArraySlice<UInt8>) {
    // Zstandard and LZ4 share the format of skippable frames, so the frame after them decides.
    let content = Self.behindSkippable(head)
    guard
      let known = Self.allCases.first(where: { $0.starts(with: content) })
        ?? Self.allCases.first(where: { $0.starts(with: head) })
    else { return nil }
    self = known
  }

  /// Finds the format by a file's extension. Returns `nil` if it is unknown.
  public init?(_ fileExtension: FileExtension) {
    guard let known = Self.allCases.first(where: { $0.extensions.contains { $0.own == fileExtension } }) else {
      return nil
    }
    self = known
  }

  /// The extensions of compressed files, and their replacements in the decompressed files' names.
  public var extensions: [(own: FileExtension, inside: String)] {
    switch self {
    case .gzip: [("gz", ""), ("tgz", ".tar"), ("taz", ".tar")]
    case .bzip2: [("bz2", ""), ("tbz2", ".tar"), ("tbz", ".tar"), ("tb2", ".tar")]
    case .xz: [("xz", ""), ("txz", ".tar")]
    case .zstd: [("zst", ""), ("tzst", ".tar")]
    case .lz4: [("lz4", ""), ("tlz4", ".tar")]
    case .lzip: [("lz", ""), ("tlz", ".tar")]
    case .lzma: [("lzma", "")]
    case .compress: [("z", "")]
    case .brotli: [("br", "")]
    }
  }

  /// Returns the name of a file's content: the file's name without the extension of its compression.
  public static func innerName(of file: FileName) -> FileName {
    guard let fileExtension = file.fileExtension, let dot = file.bytes.lastIndex(of: UInt8(ascii: ".")),
      let inside = innerExtensions[fileExtension]
    else { return file }
    return FileName(file.bytes[..<dot] + inside)
  }

  private static let innerExtensions: [FileExtension: [UInt8]] = Dictionary(
    allCases.flatMap(\.extensions).map { ($0.own, Array($0.inside.utf8)) }, uniquingKeysWith: { first, _ in first })

  func starts(with head: ArraySlice<UInt8>) -> Bool {
    switch self {
    case .gzip: head.starts(with: [0x1f, 0x8b, 8])
    case .bzip2:
      head.starts(with: Array("BZh".utf8)) && head.count >= 10 && (0x31...0x39).contains(head[head.startIndex + 3])
        && (head.dropFirst(4).starts(with: Bzip2Mark.block.bytes)
          || head.dropFirst(4).starts(with: Bzip2Mark.end.bytes))
    case .xz: head.starts(with: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])
    case .zstd: head.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) || Self.isSkippable(head)
    case .lz4:
      head.starts(with: [0x04, 0x22, 0x4d, 0x18]) || head.starts(with: LegacyLZ4Decoder.mark) || Self.isSkippable(head)
    case .lzip: head.starts(with: Array("LZIP".utf8)) && head.dropFirst(4).first.map { $0 <= 1 } ?? false
    case .lzma: startsLZMA(head)
    case .compress: head.starts(with: [0x1f, 0x9d])
    case .brotli: false
    }
  }

  /// Returns the bytes after the skippable frames. Returns `head` if there are none.
  private static func behindSkippable(_ head: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = head
    while isSkippable(rest), rest.count >= 8 {
      rest = rest.dropFirst(8).dropFirst(Int(UInt32(littleEndianBytes: rest.dropFirst(4).prefix(4))))
    }
    return rest
  }

  /// Returns whether the bytes start with a skippable frame of Zstandard and LZ4 (RFC 8878, 3.1.2).
  private static func isSkippable(_ head: ArraySlice<UInt8>) -> Bool {
    guard head.count >= 4, let first = head.first else { return false }
    return (0x50...0x5f).contains(first) && head.dropFirst().starts(with: [0x2a, 0x4d, 0x18])
  }

  /// Returns whether the bytes resemble the header of a .lzma file, which has no mark.
  ///
  /// The dictionary must be of a usual size. The usual properties are accepted with an unknown size or one below 1 TiB.
  /// Any other properties that liblzma supports (lc + lp of at most 4) are accepted with an unknown size only.
  private func startsLZMA(_ head: ArraySlice<UInt8>) -> Bool {
    guard head.count >= 14, let properties = head.first, head[head.startIndex + 13] == 0 else { return false }
    let dictionary = UInt32(littleEndianBytes: head.dropFirst().prefix(4))
    let size = UInt64(littleEndianBytes: head.dropFirst(5).prefix(8))
    let isUsual = dictionary.nonzeroBitCount == 1 || dictionary.nonzeroBitCount == 2 || dictionary == .max
    guard isUsual, dictionary >= 1 << 12 else { return false }
    let isPossible = properties < 225 && properties % 9 + properties / 9 % 5 <= 4
    return size == .max ? isPossible : properties == 0x5d && size < 1 << 40
  }
}
