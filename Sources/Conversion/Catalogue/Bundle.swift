internal import Bytes

/// Several files combined into one input, from which a single document is made.
///
/// The input starts with a list. The list consists of its own size and, for each file, the file's size, the size of its
/// name, and its name. The files' bytes follow the list in the same order. Sizes are little-endian 64-bit words.
public struct Bundle: Sendable {
  public struct Member: Hashable, Sendable {
    public let name: String
    /// The size of the file, in bytes.
    public let size: Int64

    public init(name: String, size: Int64) {
      self.name = name
      self.size = size
    }
  }

  public let members: [Member]

  /// The maximum size of the list, in bytes.
  public static let longestList: Int64 = 32 << 20
  /// The size of the field that contains the list's size, in bytes.
  public static let lead = 8

  public init(_ members: [Member]) { self.members = members }

  /// The first bytes of a member that could not be made. The reason follows them.
  public static let failureMark = Array("\u{0}ffmount cannot make this file: ".utf8)
  /// The maximum size of a reason, in bytes.
  public static let longestReason = 500

  /// The encoded list.
  public var list: [UInt8] {
    var bytes: [UInt8] = []
    for member in members {
      let name = Array(member.name.utf8)
      bytes += [UInt8](littleEndian: member.size) + [UInt8](littleEndian: Int64(name.count)) + name
    }
    return [UInt8](littleEndian: Int64(Self.lead + bytes.count)) + bytes
  }

  /// Returns the size of the list that starts with these bytes. Returns `nil` if they are invalid.
  public static func listSize(_ lead: [UInt8]) -> Int64? {
    let size = number(lead, at: 0)
    return size >= Int64(Self.lead) && size <= longestList ? size : nil
  }

  /// Decodes a list. Returns `nil` if the bytes are not a valid list.
  public init?(list bytes: [UInt8]) {
    var members: [Member] = []
    var index = Self.lead
    while index < bytes.count {
      guard bytes.count - index >= 16 else { return nil }
      let size = Self.number(bytes, at: index)
      let count = Self.number(bytes, at: index + 8)
      index += 16
      guard size >= 0, count >= 0, count <= Int64(bytes.count - index) else { return nil }
      members.append(Member(name: String(decoding: bytes[index..<index + Int(count)], as: UTF8.self), size: size))
      index += Int(count)
    }
    self.members = members
  }

  private static func number(_ bytes: [UInt8], at index: Int) -> Int64 {
    guard bytes.count - index >= 8 else { return -1 }
    return Int64(littleEndianBytes: bytes[index..<index + 8])
  }
}
