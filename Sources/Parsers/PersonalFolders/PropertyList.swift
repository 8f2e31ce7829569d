public import Bytes

/// The properties of an object by their numbers (MS-PST, section 2.3.3).
public struct PropertyList: Sendable {
  private let node: StoreNode
  private let heap: StoreHeap
  private let values: [UInt16: (type: UInt16, value: UInt32)]
  private let nodes: [UInt32: StoreNode]

  private static let most = 16_384

  public init(_ node: StoreNode) throws(Fault) {
    var heap = try StoreHeap(node)
    guard heap.kind == StoreHeap.properties else { throw Fault(.damaged, "expected properties in node \(node.number)") }
    let (size, bytes) = try heap.records(of: heap.root, keySize: 2, atMost: Self.most)
    guard size == 8 else { throw Fault(.damaged, "expected properties in node \(node.number)") }
    var values: [UInt16: (UInt16, UInt32)] = [:]
    for start in stride(from: 0, to: bytes.count, by: size) {
      values[UInt16(bytes.u16(start))] = (UInt16(bytes.u16(start + 2)), bytes.u32(start + 4))
    }
    self.node = node
    self.heap = heap
    self.values = values
    nodes = try node.nodes()
  }

  /// Returns a subnode. Returns `nil` if it does not exist.
  public func node(_ number: UInt32) -> StoreNode? { nodes[number] }

  /// Returns the type of a property (MS-OXCDATA, section 2.11.1) and its bytes. Returns `nil` if it is missing,
  /// unreadable, or larger than `most` bytes.
  public func value(_ id: UInt16, atMost most: Int) throws(Fault) -> (type: UInt16, bytes: [UInt8])? {
    guard let (type, value) = values[id] else { return nil }
    switch type {
    case 2, 3, 4, 0xa, 0xb: return (type, [UInt8](littleEndian: value))
    default: break
    }
    let bytes = try unlessDelayed { () throws(Fault) in
      if value & 0x1f != 0 { return try nodes[value]?.blocks().all(atMost: most) }
      var heap = heap
      return try heap.bytes(value)
    }
    guard let bytes = bytes ?? nil, bytes.count <= most else { return nil }
    return (type, bytes)
  }

  /// Returns the bytes of a property that has blocks of its own and can be large. Returns `nil` for other properties.
  public func data(_ id: UInt16) throws(Fault) -> StoreData? {
    guard let (_, value) = values[id], value & 0x1f != 0, let node = nodes[value] else { return nil }
    return try node.blocks()
  }

  /// Returns the node that an object property refers to. Returns `nil` if it does not exist.
  public func object(_ id: UInt16) throws(Fault) -> StoreNode? {
    guard let (type, bytes) = try value(id, atMost: 8), type == 0xd, bytes.count == 8 else { return nil }
    return nodes[bytes.u32(0)]
  }
}
