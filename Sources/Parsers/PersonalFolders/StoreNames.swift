public import Bytes

/// The numbers that a file assigns to named properties (MS-PST, section 2.4.7).
public struct StoreNames: Sendable {
  private var tags: [UInt32: UInt16] = [:]

  private static let node: UInt32 = 0x61
  private static let longest = 1 << 20

  /// Reads the list of names. Throws `damaged` if it is missing.
  public init(_ file: StoreFile) throws(Fault) {
    guard let node = try file.node(Self.node),
      let entries = try PropertyList(node).value(3, atMost: Self.longest)?.bytes
    else { throw Fault(.damaged, "has no list of names") }
    for start in stride(from: 0, through: entries.count - 8, by: 8) {
      let index = entries.u16(start + 6)
      // Other properties have a text as their name.
      guard entries.u16(start + 4) & 1 == 0, index < 0x8000 else { continue }
      tags[entries.u32(start)] = UInt16(0x8000 + index)
    }
  }

  /// The number of the property with a long number. Long numbers of different property sets are distinct in practice.
  public subscript(id: UInt32) -> UInt16? { tags[id] }
}
