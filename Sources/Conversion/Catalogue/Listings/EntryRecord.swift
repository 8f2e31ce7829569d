public import Bytes

/// An archive entry as listed by a worker, or the end of the list.
///
/// Numbers are little-endian. A path or text follows its size. Records are untrusted input.
public struct EntryRecord: Sendable {
  public enum Kind: UInt8, Sendable {
    /// The last record. `text` is the reason why the rest could not be read. `size` is an `Access`.
    case end
    /// A file. If the path is empty, it has the archive's name without its extension, and the extension `text`.
    case file
    case folder
    /// A symbolic link with the target `text`.
    case link
    /// Another name of the file at the path `text`. If `size` is not 0, the entry contains that file's bytes.
    case hardLink
    /// A special file. `text` describes it.
    case special
  }

  /// The order in which entries can be decoded, as the `size` of the last record.
  public enum Access: Int64, Sendable {
    /// Each independently, from its start.
    case separate
    /// One after the other, from the first.
    case sequential
    /// Each independently, from any offset.
    case random
  }

  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The bytes are in the archive as they are, at `place`, or in the `pieces` if there are any.
    public static let isStored = Flags(rawValue: 1)
    public static let isEncrypted = Flags(rawValue: 2)
    /// The recorded size exceeds the maximum content of such an archive.
    public static let isExcessive = Flags(rawValue: 4)
    /// The archive contains none of the entry's bytes.
    public static let isAbsent = Flags(rawValue: 8)
    /// The entry belongs to the archive format, such as a table of names. It is not shown.
    public static let isInternal = Flags(rawValue: 16)
    /// The bytes do not match the checksum.
    public static let isWrong = Flags(rawValue: 64)
    /// Reading all bytes verifies their checksum, or it has been verified already.
    public static let isChecked = Flags(rawValue: 128)
    /// No time is recorded.
    public static let isUndated = Flags(rawValue: 32)
  }

  public var kind: Kind
  public var flags: Flags = []
  public var permissions: UInt16 = 0
  public var modified = Timestamp(seconds: 0)
  /// The size in bytes.
  public var size: Int64 = 0
  /// The offset of the bytes in the archive, if `isStored`. Otherwise, the number of the block that has to be decoded
  /// from its start for these bytes. 0 if there are no blocks.
  public var place: Int64 = 0
  public var path: [UInt8] = []
  public var text: [UInt8] = []
  /// The parts of the archive that are the bytes. All others are zeros.
  public var pieces: [SparseSource.Piece] = []

  private static let fixedSize = 44
  private static let pieceSize = 24
  /// The maximum number of pieces.
  public static let mostPieces = 64 << 10
  /// The maximum size of a path or text, in bytes.
  public static let longestText = 64 << 10

  public init(_ kind: Kind) { self.kind = kind }

  /// The encoded record.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = [kind.rawValue, flags.rawValue]
    bytes.reserveCapacity(Self.fixedSize + path.count + text.count)
    bytes.append(littleEndian: permissions)
    bytes.append(littleEndian: modified.nanoseconds)
    bytes.append(littleEndian: modified.seconds)
    bytes.append(littleEndian: size)
    bytes.append(littleEndian: place)
    let (path, text) = (path.prefix(Self.longestText), text.prefix(Self.longestText))
    bytes.append(littleEndian: UInt32(path.count))
    bytes.append(littleEndian: UInt32(text.count))
    let pieces = pieces.prefix(Self.mostPieces)
    bytes.append(littleEndian: UInt32(pieces.count))
    bytes += path + text
    for piece in pieces {
      for number in [piece.offset, piece.count, piece.start] { bytes.append(littleEndian: number) }
    }
    return bytes
  }

  /// Removes the first record from `bytes` and decodes it. Returns `nil` if it is incomplete or invalid.
  public init?(removingFrom bytes: inout ArraySlice<UInt8>) {
    guard bytes.count >= Self.fixedSize, let kind = Kind(rawValue: bytes[bytes.startIndex]) else { return nil }
    var rest = bytes.dropFirst()
    func number<Number: FixedWidthInteger>(_: Number.Type) -> Number {
      defer { rest = rest.dropFirst(Number.bitWidth / 8) }
      return Number(littleEndianBytes: rest.prefix(Number.bitWidth / 8))
    }
    self.kind = kind
    flags = Flags(rawValue: number(UInt8.self))
    permissions = number(UInt16.self) & 0o777
    let nanoseconds = number(Int32.self)
    let seconds = min(max(-Bounds.latestTime, number(Int64.self)), Bounds.latestTime)
    modified = Timestamp(seconds: seconds, nanoseconds: min(max(0, nanoseconds), 999_999_999))
    size = Bounds.size(number(Int64.self))
    place = Bounds.size(number(Int64.self))
    let counts = (path: Int(number(UInt32.self)), text: Int(number(UInt32.self)), pieces: Int(number(UInt32.self)))
    guard max(counts.path, counts.text) <= Self.longestText, counts.pieces <= Self.mostPieces,
      counts.path + counts.text + counts.pieces * Self.pieceSize <= rest.count
    else { return nil }
    path = Array(rest.prefix(counts.path))
    text = Array(rest.dropFirst(counts.path).prefix(counts.text))
    rest = rest.dropFirst(counts.path + counts.text)
    pieces = (0..<counts.pieces).map { _ in
      SparseSource.Piece(
        offset: Bounds.size(number(Int64.self)), count: Bounds.size(number(Int64.self)),
        start: Bounds.size(number(Int64.self)))
    }
    bytes = rest
  }
}

extension EntryRecord {
  /// The message about entries that do not match their checksum.
  public static let wrongSum = "does not match its recorded checksum"
  /// The message about encrypted entries.
  public static let encryption =
    "is encrypted, and no known password fits, or archives of this kind are not decrypted (-o password_file=FILE)"

  /// Returns the maximum plausible content of an archive of this size, in bytes.
  public static func largestContent(ofArchiveOf size: Int64) -> Int64 {
    let (most, isAny) = Bounds.size(size).multipliedReportingOverflow(by: 1100)
    return isAny ? Bounds.largestSize : max(most, 1 << 30)
  }

  /// The number of bytes that the entry occupies among the bytes of all entries. Includes entries that are read from
  /// the archive itself.
  public var room: Int64 {
    (kind == .file || kind == .hardLink) && flags.isDisjoint(with: [.isExcessive, .isAbsent]) ? size : 0
  }
}
