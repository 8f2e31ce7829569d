/// A set of names, numbered in order of insertion, in one contiguous buffer with a few bytes of overhead each.
public struct NameList: Sendable {
  /// All names, concatenated.
  public private(set) var bytes: [UInt8] = []
  /// The end offset of each name in `bytes`.
  public private(set) var ends: [UInt32] = []
  private var table = NameTable(expecting: 0)

  public init() {}

  public var count: Int { ends.count }

  public subscript(number: Int) -> ArraySlice<UInt8> {
    bytes[(number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])]
  }

  /// Returns the number of a name. Returns `nil` if it is not in the list.
  public func number(of name: ArraySlice<UInt8>) -> UInt32? { find(NameTable.hash(0, name), name) }

  private func find(_ hash: Int, _ name: ArraySlice<UInt8>) -> UInt32? {
    table.find(hash) { self[Int($0)] == name }
  }

  /// Adds a name unless it is present. Returns its number, and whether it is new.
  ///
  /// Beyond 4 GiB of names or 2³¹ − 1 names, new names are not added and get number 0.
  public mutating func add(_ name: ArraySlice<UInt8>) -> (number: UInt32, isNew: Bool) {
    let hash = NameTable.hash(0, name)
    if let known = find(hash, name) { return (known, false) }
    if count > 0, bytes.count + name.count > Int(UInt32.max) || count >= Int(Int32.max) { return (0, false) }
    let number = UInt32(count)
    bytes += name
    ends.append(UInt32(bytes.count))
    if table.isFull { table = table.grown { NameTable.hash(0, self[Int($0)]) } }
    table.insert(number, hash)
    return (number, true)
  }

  /// Frees the table, which only lookups and insertions need.
  public mutating func finish() { table = NameTable(expecting: 0) }
}
