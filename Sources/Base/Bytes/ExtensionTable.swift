/// An immutable hash table of values by file name extension. A lookup takes constant time.
public struct ExtensionTable<Value: Sendable>: Sendable {
  private struct Slot {
    var key: FileExtension?
    var values: [Value] = []
  }

  private var slots: [Slot]

  /// Creates a table. The values of one extension keep their order.
  public init(_ entries: [(extension: FileExtension, value: Value)]) {
    var count = 8
    while count < 2 * entries.count { count *= 2 }
    slots = Array(repeating: Slot(), count: count)
    for entry in entries {
      let index = index(of: entry.extension)
      slots[index].key = entry.extension
      slots[index].values.append(entry.value)
    }
  }

  public subscript(key: FileExtension) -> [Value] { slots[index(of: key)].values }

  /// Returns the slot of a key, or a free slot for it. At most half of the slots are taken.
  private func index(of key: FileExtension) -> Int {
    let mask = slots.count - 1
    var index = key.hash & mask
    while let other = slots[index].key, other != key { index = (index + 1) & mask }
    return index
  }
}
