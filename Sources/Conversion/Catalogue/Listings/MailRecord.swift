internal import Bytes

/// A message of a mail store as listed by a worker, or the end of the list.
///
/// A message is its text without attachments. Each attachment belongs at its offset in the text, encoded in Base64 with
/// lines of 76 characters. Numbers are little-endian. Records are untrusted input.
public struct MailRecord: Sendable {
  public enum Kind: UInt8, Sendable {
    case message = 1
    /// The last record. `text` is the reason why some messages are missing, or empty.
    case end = 2
  }

  /// An attachment.
  public struct File: Sendable {
    /// The offset of the attachment in the text, in bytes.
    public let place: Int64
    /// The size before encoding, in bytes.
    public let size: Int64
    /// The address with which the attachment is requested.
    public let address: MailFileAddress

    public init(place: Int64, size: Int64, address: MailFileAddress) {
      self.place = place
      self.size = size
      self.address = address
    }
  }

  public var kind: Kind
  /// The mail program's notes about the message, as the bits of `MessageState`.
  public var state: UInt8 = 0
  /// The path of the message's folder, in UTF-8, with `/` between names.
  public var folder: [UInt8] = []
  /// The attachments, ordered by offset.
  public var files: [File] = []
  public var text: [UInt8] = []

  public init(_ kind: Kind) { self.kind = kind }

  /// The maximum size of a folder's path, in bytes.
  public static let longestFolder = 4096
  /// The maximum number of attachments of a message.
  public static let mostFiles = 65_536

  /// The encoded record.
  public var bytes: [UInt8] {
    var list: [UInt8] = []
    for file in files.prefix(Self.mostFiles) {
      list.append(littleEndian: file.place)
      list.append(littleEndian: file.size)
      let address = Array(file.address.description.utf8)
      list.append(UInt8(address.count))
      list += address
    }
    let folder = folder.prefix(Self.longestFolder)
    var bytes: [UInt8] = [kind.rawValue, state, 0, 0]
    bytes.reserveCapacity(Head.size + folder.count + list.count + text.count)
    bytes.append(littleEndian: UInt32(folder.count))
    bytes.append(littleEndian: UInt32(list.count))
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: Int64(text.count))
    return bytes + folder + list + text
  }
}

extension MailRecord {
  /// The header of a record.
  public struct Head: Sendable {
    /// The size of a header, in bytes.
    public static let size = 24

    public let kind: Kind
    public let state: UInt8
    /// The size of the folder's path, in bytes. The path, the list of files and the text follow the header in this
    /// order.
    public let folder: Int
    public let files: Int
    public let text: Int64

    /// Decodes a header. Returns `nil` if it is invalid.
    public init?(_ bytes: [UInt8]) {
      guard bytes.count == Self.size, let kind = Kind(rawValue: bytes[0]) else { return nil }
      self.kind = kind
      state = bytes[1]
      folder = Int(UInt32(littleEndianBytes: bytes[4..<8]))
      files = Int(UInt32(littleEndianBytes: bytes[8..<12]))
      text = Bounds.size(Int64(littleEndianBytes: bytes[16..<24]))
      let longest = MailRecord.mostFiles * (17 + MailFileAddress.longest)
      guard folder <= MailRecord.longestFolder, files <= longest else { return nil }
    }

    /// The offset of the text in the record, in bytes.
    public var textStart: Int64 { Int64(Self.size + folder + files) }
    /// The size of the record, in bytes.
    public var recordSize: Int64 { Bounds.sum(textStart, text) }
  }

  /// Decodes the list of files of a record with a text of this size. Returns `nil` if it is invalid.
  public static func files(_ bytes: [UInt8], textSize: Int64) -> [File]? {
    var files: [File] = []
    var place = 0
    var last: Int64 = 0
    while place < bytes.count {
      guard place + 17 <= bytes.count else { return nil }
      let start = Int64(littleEndianBytes: bytes[place..<place + 8])
      let size = Int64(littleEndianBytes: bytes[place + 8..<place + 16])
      let count = Int(bytes[place + 16])
      place += 17
      guard start >= last, start <= textSize, Bounds.holds(size), place + count <= bytes.count,
        let text = String(validating: bytes[place..<place + count], as: UTF8.self),
        let address = MailFileAddress(text[...])
      else { return nil }
      place += count
      last = start
      files.append(File(place: start, size: size, address: address))
    }
    return files
  }
}

/// The address of an attachment in a mail store: the number of a message and the path to the attachment, as in
/// `2097188.0.3`. All attachments on the path except the last are messages.
public struct MailFileAddress: Arguments {
  /// The number of the message in the store.
  public let message: UInt32
  /// The index of the attachment at each level, from 0.
  public let path: [UInt32]

  /// The maximum length of `path`.
  public static let mostSteps = 18
  /// The maximum size of an address as text, in bytes.
  public static let longest = 11 * (mostSteps + 1)

  public init(message: UInt32, path: [UInt32]) {
    self.message = message
    self.path = path
  }

  public init?(_ text: Substring) {
    let words = text.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = words.compactMap { UInt32($0) }
    guard numbers.count == words.count, (2...Self.mostSteps + 1).contains(numbers.count) else { return nil }
    message = numbers[0]
    path = Array(numbers[1...])
    // Only the canonical form is valid.
    guard description == text else { return nil }
  }

  public var description: String { ([message] + path).map { String($0) }.joined(separator: ".") }
}
