public import Bytes

/// A table of a folder or a message (MS-PST, section 2.3.4).
public struct StoreTable: Sendable {
  /// A row: its number, which is a node number in most tables, and its cells.
  public struct Row: Sendable {
    public let number: UInt32
    fileprivate let bytes: [UInt8]
  }

  /// The rows in the order of the table.
  public let rows: [Row]
  private let heap: StoreHeap
  private let nodes: [UInt32: StoreNode]
  private let columns: [UInt16: (type: UInt16, place: Int, size: Int, bit: Int)]
  private let bits: Int

  /// The maximum number of rows.
  public static let most = 1 << 22

  public init(_ node: StoreNode) throws(Fault) {
    var heap = try StoreHeap(node)
    let info = try heap.bytes(heap.root)
    guard heap.kind == StoreHeap.table, info.count >= 22, info[0] == 0x7c else {
      throw Fault(.damaged, "expected a table in node \(node.number)")
    }
    let nodes = try node.nodes()
    let rowSize = info.u16(8)
    bits = info.u16(6)
    guard rowSize >= 8, bits <= rowSize else { throw Fault(.damaged, "expected a table in node \(node.number)") }
    var columns: [UInt16: (UInt16, Int, Int, Int)] = [:]
    for index in 0..<info.u8(1) {
      let start = 22 + 8 * index
      guard start + 8 <= info.count else { break }
      let column = (info.u16(start + 4), info.u8(start + 6), info.u8(start + 7))
      guard column.0 + column.1 <= bits, bits + column.2 / 8 < rowSize else { continue }
      columns[UInt16(info.u16(start + 2))] = (UInt16(info.u16(start)), column.0, column.1, column.2)
    }
    self.columns = columns
    self.nodes = nodes
    let matrix = info.u32(14)
    var rows: [Row] = []
    if matrix != 0 {
      let (size, index) = try heap.records(of: info.u32(10), keySize: 4, atMost: Self.most)
      let places = stride(from: 0, to: index.count, by: size).map { start in
        (place: Int(index.number(at: start + 4, size - 4 == 2 ? 2 : 4)), number: index.u32(start))
      }.sorted { $0.place < $1.place }
      rows.reserveCapacity(places.count)
      var lines = try RowReader(heap.lines(matrix, nodes), rowSize)
      for (place, number) in places {
        // A missing row has no cells.
        rows.append(Row(number: number, bytes: try lines.row(place) ?? []))
      }
    }
    self.rows = rows
    self.heap = heap
  }

  /// Returns the type of a cell and its bytes. Returns `nil` if the cell is empty, unreadable, or larger than `most`
  /// bytes.
  public func value(_ id: UInt16, in row: Row, atMost most: Int) throws(Fault) -> (type: UInt16, bytes: [UInt8])? {
    guard let (type, place, size, bit) = columns[id], bits + bit / 8 < row.bytes.count,
      row.bytes[bits + bit / 8] & (0x80 >> UInt8(bit % 8)) != 0
    else { return nil }
    let cell = Array(row.bytes[place..<place + size])
    switch type {
    case 2, 3, 4, 5, 6, 7, 0xa, 0xb, 0x14, 0x40: return (type, cell)
    default: break
    }
    let number = cell.u32(0)
    let bytes = try unlessDelayed { () throws(Fault) in
      if number & 0x1f != 0 { return try nodes[number]?.blocks().all(atMost: most) }
      var heap = heap
      return try heap.bytes(number)
    }
    guard let bytes = bytes ?? nil, bytes.count <= most else { return nil }
    return (type, bytes)
  }
}

extension StoreHeap {
  /// Returns the rows of a table, which are in the heap or in a node of their own.
  fileprivate mutating func lines(_ number: UInt32, _ nodes: [UInt32: StoreNode]) throws(Fault) -> RowReader.Lines {
    if number & 0x1f == 0 { return .heap(try bytes(number)) }
    guard let node = nodes[number] else { throw Fault(.damaged, "has no rows of a table") }
    return .data(try node.blocks())
  }
}

/// A reader of rows, none of which crosses a block boundary.
private struct RowReader {
  enum Lines {
    case heap([UInt8])
    case data(StoreData)
  }

  private let lines: Lines
  private let size: Int
  private let perBlock: Int
  private var block: (index: Int, bytes: [UInt8]) = (-1, [])

  init(_ lines: Lines, _ size: Int) throws(Fault) {
    self.lines = lines
    self.size = size
    if case .data(let data) = lines { perBlock = max(1, (data.blocks.first?.size ?? 0) / size) } else { perBlock = 0 }
  }

  /// Returns a row. Returns `nil` if it does not exist.
  mutating func row(_ number: Int) throws(Fault) -> [UInt8]? {
    switch lines {
    case .heap(let bytes):
      guard number < bytes.count / size else { return nil }
      return Array(bytes[number * size..<(number + 1) * size])
    case .data(let data):
      let (index, place) = number.quotientAndRemainder(dividingBy: perBlock)
      guard index < data.blocks.count else { return nil }
      if block.index != index { block = (index, try data.block(index)) }
      guard place < block.bytes.count / size else { return nil }
      return Array(block.bytes[place * size..<(place + 1) * size])
    }
  }
}
