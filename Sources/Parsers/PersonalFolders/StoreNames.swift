public import Bytes

/// What numbers a file has given to properties that have names (MS-PST, section 2.4.7).
public struct StoreNames: Sendable {
  private var tags: [UInt32: UInt16] = [:]

  private static let node: UInt32 = 0x61
  private static let longest = 1 << 20

  /// Throws a damaged fault if there is no such list.
  public init(_ file: StoreFile) throws(Fault) {
    guard let node = try file.node(Self.node),
      let entries = try PropertyList(node).value(3, atMost: Self.longest)?.bytes
    else { throw Fault(.damaged, "has no list of names") }
    for start in stride(from: 0, through: entries.count - 8, by: 8) {
      let index = entries.u16(start + 6)
      // Others have a text for a name.
      guard entries.u16(start + 4) & 1 == 0, index < 0x8000 else { continue }
      tags[entries.u32(start)] = UInt16(0x8000 + index)
    }
  }

  /// The number of the property with a long number; those of different sets are different in practice.
  public subscript(id: UInt32) -> UInt16? { tags[id] }
}
