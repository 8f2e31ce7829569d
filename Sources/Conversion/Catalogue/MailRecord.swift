internal import Bytes

/// A message of a mail store as a worker lists it, or the end of the list.
///
/// A message is its text, with the files that are attached left out: each is in Base64 at its place in the text, in lines
/// of 76 characters. Numbers are little-endian. Whoever reads a list trusts nothing in it.
public struct MailRecord: Sendable {
  public enum Kind: UInt8, Sendable {
    case message = 1
    /// `text` is why some messages are missing, or empty.
    case end = 2
  }

  /// A file that is attached.
  public struct File: Sendable {
    /// Where it belongs, in bytes from the start of the text.
    public let place: Int64
    /// In bytes, before it is encoded.
    public let size: Int64
    /// What it is asked for by.
    public let address: MailFileAddress

    public init(place: Int64, size: Int64, address: MailFileAddress) {
      self.place = place
      self.size = size
      self.address = address
    }
  }

  public var kind: Kind
  /// What the program has noted of the message, as the bits of `MessageState`.
  public var state: UInt8 = 0
  /// The path of its folder, in UTF-8, with `/` between names.
  public var folder: [UInt8] = []
  /// In the order of their places.
  public var files: [File] = []
  public var text: [UInt8] = []

  public init(_ kind: Kind) { self.kind = kind }

  /// A path is no longer, in bytes.
  public static let longestFolder = 4096
  /// No message has more files.
  public static let mostFiles = 65_536

  /// The record as it is written.
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
  /// How a record starts.
  public struct Head: Sendable {
    /// In bytes.
    public static let size = 24

    public let kind: Kind
    public let state: UInt8
    /// In bytes: the folder's path, the list of files, and the text, which follow in this order.
    public let folder: Int
    public let files: Int
    public let text: Int64

    /// nil for what no record starts with.
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

    /// Where the text starts, in bytes from the record's start.
    public var textStart: Int64 { Int64(Self.size + folder + files) }
    /// The whole record, in bytes.
    public var recordSize: Int64 { Bounds.sum(textStart, text) }
  }

  /// The list of files of a record with so much text; nil if it is none.
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

/// Where in a mail store a file is attached: the number of a message, and which of its attachments, each but the last of which
/// is a message itself: `2097188.0.3`.
public struct MailFileAddress: Arguments {
  /// The message's, in the store.
  public let message: UInt32
  /// From 0.
  public let path: [UInt32]

  /// The deepest.
  public static let mostSteps = 18
  /// In bytes of text.
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
    // Written in one way only.
    guard description == text else { return nil }
  }

  public var description: String { ([message] + path).map { String($0) }.joined(separator: ".") }
}
