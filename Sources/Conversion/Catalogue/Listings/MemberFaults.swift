internal import Bytes

/// The faults of entries whose bytes a worker has written. The list follows these bytes, and its size is at the very
/// end.
///
/// Each entry occupies the space that the list of entries assigns to it. Incomplete entries are padded with zeros.
public struct MemberFaults: Sendable {
  public struct Member: Sendable {
    /// The number of the entry in the list, from 0.
    public let number: Int
    /// The number of valid bytes.
    public let good: Int64
    public let reason: String

    public init(number: Int, good: Int64, reason: String) {
      self.number = number
      self.good = good
      self.reason = reason
    }
  }

  /// The faults, ordered by the entries' numbers.
  public private(set) var members: [Member] = []
  /// The number of the first entry after which nothing could be read, including itself. The last fault has the reason.
  /// `nil` if all could be read.
  public private(set) var end: Int?

  /// The maximum number of faults that are recorded. Entries after that are not read.
  public static let most = 4096
  /// The size of the field that contains the list's size, in bytes.
  public static let tailSize = 8
  /// The maximum size of the list, in bytes.
  private static let longest: Int64 = 4 << 20
  private static let longestReason = 300

  public init() {}

  /// Adds a fault. Returns `false` if the maximum number is reached.
  public mutating func add(_ member: Member) -> Bool {
    guard members.count < Self.most else { return false }
    members.append(member)
    return true
  }

  /// Records that this entry and all later ones were not read.
  public mutating func stop(at number: Int, _ reason: String) {
    members.append(Member(number: number, good: 0, reason: reason))
    end = number
  }

  /// Returns the fault of an entry. Returns `nil` if it has none.
  public func fault(_ number: Int) -> Member? {
    if let end, number >= end { return members.last.map { Member(number: number, good: 0, reason: $0.reason) } }
    return members.first { $0.number == number }
  }

  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for member in members {
      let reason = Array(member.reason.utf8.prefix(Self.longestReason))
      bytes.append(littleEndian: UInt32(clamping: member.number))
      bytes.append(littleEndian: member.good)
      bytes.append(littleEndian: UInt16(reason.count))
      bytes += reason
    }
    bytes.append(littleEndian: UInt32(clamping: end.map { $0 + 1 } ?? 0))
    return bytes + [UInt8](littleEndian: UInt64(bytes.count))
  }

  /// Returns the size of the list that ends with these bytes. Returns `nil` if they are invalid.
  public static func size(_ tail: [UInt8]) -> Int64? {
    let size = Int64(littleEndianBytes: tail)
    return tail.count == tailSize && (4...longest).contains(size) ? size : nil
  }

  /// Decodes a list without its tail. Returns `nil` if it is invalid.
  public init?(_ list: [UInt8]) {
    var rest = list[...]
    while rest.count > 4 {
      guard rest.count >= 18 else { return nil }
      let count = Int(UInt16(littleEndianBytes: rest.dropFirst(12)))
      guard rest.count >= 18 + count, members.count <= Self.most else { return nil }
      let reason = String(decoding: rest.dropFirst(14).prefix(count), as: UTF8.self)
      members.append(
        Member(
          number: Int(UInt32(littleEndianBytes: rest)),
          good: Bounds.size(Int64(littleEndianBytes: rest.dropFirst(4))), reason: reason))
      rest = rest.dropFirst(14 + count)
    }
    guard rest.count == 4 else { return nil }
    let number = Int(UInt32(littleEndianBytes: rest))
    end = number == 0 ? nil : number - 1
  }
}
