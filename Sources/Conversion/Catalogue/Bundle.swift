internal import Bytes

/// Several files as one input: what a document is merged of.
///
/// First the size of the list, then for each file its size, that of its name, and its name; behind the list the files' bytes,
/// one after the other. Sizes are little-endian 64-bit words.
public struct Bundle: Sendable {
  public struct Member: Hashable, Sendable {
    public let name: String
    /// In bytes.
    public let size: Int64

    public init(name: String, size: Int64) {
      self.name = name
      self.size = size
    }
  }

  public let members: [Member]

  /// No list is longer, in bytes.
  public static let longestList: Int64 = 32 << 20
  /// What says how long it is takes so many bytes.
  public static let lead = 8

  public init(_ members: [Member]) { self.members = members }

  /// The start of the bytes of a member that could not be made. The reason follows.
  public static let failureMark = Array("\u{0}ffmount cannot make this file: ".utf8)
  /// The maximum number of bytes of a reason.
  public static let longestReason = 500

  /// The list.
  public var list: [UInt8] {
    var bytes: [UInt8] = []
    for member in members {
      let name = Array(member.name.utf8)
      bytes += [UInt8](littleEndian: member.size) + [UInt8](littleEndian: Int64(name.count)) + name
    }
    return [UInt8](littleEndian: Int64(Self.lead + bytes.count)) + bytes
  }

  /// How long the list is that starts so; nil when there is none.
  public static func listSize(_ lead: [UInt8]) -> Int64? {
    let size = number(lead, at: 0)
    return size >= Int64(Self.lead) && size <= longestList ? size : nil
  }

  /// nil for what `list` never gives.
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
