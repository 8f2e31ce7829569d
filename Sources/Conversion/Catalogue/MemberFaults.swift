internal import Bytes

/// What is wrong with some entries of which a worker has written the bytes: it follows these bytes, and its own size is at
/// the very end.
///
/// The entries lie one behind the other, each with the room that it has by the list; of one that breaks off the rest is zeros.
public struct MemberFaults: Sendable {
  public struct Member: Sendable {
    /// In the list, from 0.
    public let number: Int
    /// So many bytes are good.
    public let good: Int64
    public let reason: String

    public init(number: Int, good: Int64, reason: String) {
      self.number = number
      self.good = good
      self.reason = reason
    }
  }

  /// In the order of their numbers.
  public private(set) var members: [Member] = []
  /// From this entry on nothing could be read, for the reason of the last one; nil if all could.
  public private(set) var end: Int?

  /// More are not told of one by one: the rest is not read.
  public static let most = 4096
  /// What says how long the list is, in bytes.
  public static let tailSize = 8
  /// It is never longer, in bytes.
  private static let longest: Int64 = 4 << 20
  private static let longestReason = 300

  public init() {}

  /// nil when there is room for no other.
  public mutating func add(_ member: Member) -> Bool {
    guard members.count < Self.most else { return false }
    members.append(member)
    return true
  }

  /// Nothing is read from an entry on.
  public mutating func stop(at number: Int, _ reason: String) {
    members.append(Member(number: number, good: 0, reason: reason))
    end = number
  }

  /// What is wrong with an entry.
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

  /// The size of a list that ends so; nil if there is none.
  public static func size(_ tail: [UInt8]) -> Int64? {
    let size = Int64(littleEndianBytes: tail)
    return tail.count == tailSize && (4...longest).contains(size) ? size : nil
  }

  /// Reads a list without its tail; nil if it is none.
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
