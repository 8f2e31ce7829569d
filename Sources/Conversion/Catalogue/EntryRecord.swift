public import Bytes

/// An entry of an archive as a worker lists it, or the end of the list.
///
/// Numbers are little-endian; a path or text follows its size. Whoever reads a list trusts nothing in it.
public struct EntryRecord: Sendable {
  public enum Kind: UInt8, Sendable {
    /// The last record: `text` is why the rest could not be read, `size` is not 0 if entries can only be decoded one after
    /// the other.
    case end
    case file
    case folder
    /// `text` is the target.
    case link
    /// Another name of the file at `text`; with a size, its bytes are that file's.
    case hardLink
    /// `text` says what it is.
    case special
  }

  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `place` is in the archive itself.
    public static let isStored = Flags(rawValue: 1)
    public static let isEncrypted = Flags(rawValue: 2)
    /// It claims to be larger than any content of such an archive.
    public static let isExcessive = Flags(rawValue: 4)
    /// Nothing of it is in the archive.
    public static let isAbsent = Flags(rawValue: 8)
    /// It is the archive's own, such as its table of names: not shown.
    public static let isInternal = Flags(rawValue: 16)
    /// Its bytes do not have its checksum.
    public static let isWrong = Flags(rawValue: 64)
    /// Reading its bytes to their end compares them with a checksum, or that has been done.
    public static let isChecked = Flags(rawValue: 128)
    /// No time is recorded.
    public static let isUndated = Flags(rawValue: 32)
  }

  public var kind: Kind
  public var flags: Flags = []
  public var permissions: UInt16 = 0
  public var modified = Timestamp(seconds: 0)
  /// In bytes.
  public var size: Int64 = 0
  /// If it `isStored`, the start of its bytes in the archive.
  public var place: Int64 = 0
  public var path: [UInt8] = []
  public var text: [UInt8] = []

  private static let fixedSize = 40
  /// A path or text is no longer, in bytes.
  public static let longestText = 64 << 10

  public init(_ kind: Kind) { self.kind = kind }

  /// The record as it is written.
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
    return bytes + path + text
  }

  /// Takes the first record of `bytes` away; nil if there is no whole one.
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
    let counts = (path: Int(number(UInt32.self)), text: Int(number(UInt32.self)))
    guard max(counts.path, counts.text) <= Self.longestText, counts.path + counts.text <= rest.count else { return nil }
    path = Array(rest.prefix(counts.path))
    text = Array(rest.dropFirst(counts.path).prefix(counts.text))
    bytes = rest.dropFirst(counts.path + counts.text)
  }
}

extension EntryRecord {
  /// What is to be said of entries whose bytes do not have their checksum.
  public static let wrongSum = "does not have the checksum that is recorded"
  /// What is to be said of encrypted entries.
  public static let encryption = "is encrypted, and archives of this kind are not decrypted here, whatever the password"

  /// What an archive's content may be, to its own size: a size beyond is a claim, in bytes.
  public static func largestContent(ofArchiveOf size: Int64) -> Int64 {
    let (most, isAny) = Bounds.size(size).multipliedReportingOverflow(by: 1100)
    return isAny ? Bounds.largestSize : max(most, 1 << 30)
  }

  /// How much room the entry has among the bytes of entries: also one that is read from the archive itself.
  public var room: Int64 {
    (kind == .file || kind == .hardLink) && flags.isDisjoint(with: [.isExcessive, .isAbsent]) ? size : 0
  }
}
