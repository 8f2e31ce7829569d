import Bytes
import TestSupport
import Testing

@Suite struct NameTableTests {
  /// Names by number, as stored by the table's user.
  private struct Model {
    var names: [UInt32: (parent: UInt32, name: [UInt8])] = [:]
    var table = NameTable(expecting: 0)

    /// `coarse` makes most names collide in a few slots.
    let isCoarse: Bool

    func hash(_ parent: UInt32, _ name: [UInt8]) -> Int {
      isCoarse ? Int(name.last ?? 0) % 4 : NameTable.hash(parent, name[...])
    }

    func rehash(_ number: UInt32) -> Int { names[number].map { hash($0.parent, $0.name) } ?? 0 }

    func find(_ parent: UInt32, _ name: [UInt8]) -> UInt32? {
      table.find(hash(parent, name)) { names[$0].map { $0.parent == parent && $0.name == name } ?? false }
    }

    mutating func insert(_ number: UInt32, _ parent: UInt32, _ name: [UInt8]) {
      names[number] = (parent, name)
      if table.isFull { table = table.grown { rehash($0) } }
      table.insert(number, hash(parent, name))
    }

    mutating func remove(_ number: UInt32) {
      var table = table
      table.remove(number, rehash(number)) { rehash($0) }
      self.table = table
      names[number] = nil
    }
  }

  @Test(arguments: [(1, false), (2, false), (3, true), (4, true)]) func tableMatchesDictionaryModel(
    seed: UInt64, isCoarse: Bool
  ) {
    var numbers = SeededNumbers(seed: seed)
    var model = Model(isCoarse: isCoarse)
    var expected: [String: UInt32] = [:]
    var next: UInt32 = 0
    for step in 0..<3000 {
      let parent = UInt32(numbers.below(4))
      let name = Array("n\(numbers.below(120))".utf8)
      let key = "\(parent)/\(String(decoding: name, as: UTF8.self))"
      #expect(model.find(parent, name) == expected[key])
      // Alternately grows and shrinks.
      let grows = numbers.below(10) < (step / 500 % 2 == 0 ? 7 : 3)
      if let present = expected[key] {
        if grows { continue }
        model.remove(present)
        expected[key] = nil
      } else if grows {
        model.insert(next, parent, name)
        expected[key] = next
        next += 1
      }
    }
    for (number, entry) in model.names { #expect(model.find(entry.parent, entry.name) == number) }
    #expect(model.names.count == expected.count)
  }

  @Test func removingMissingEntryHasNoEffect() {
    var table = NameTable(expecting: 4)
    table.insert(7, 3)
    table.remove(8, 3) { _ in 3 }
    #expect(table.find(3) { $0 == 7 } == 7)
    table.remove(7, 3) { _ in 3 }
    #expect(table.find(3) { _ in true } == nil)
  }

  @Test func tableHoldsItsExpectedCount() {
    for count in [0, 1, 10, 11, 1000] {
      var table = NameTable(expecting: count)
      for number in 0..<UInt32(count) {
        #expect(!table.isFull)
        table.insert(number, Int(number))
      }
    }
  }

  @Test func zeroIsStoredLikeOtherNumbers() {
    var table = NameTable(expecting: 1)
    table.insert(0, 5)
    #expect(table.find(5) { $0 == 0 } == 0)
  }

  @Test func negativeHashesFindTheirSlot() {
    var table = NameTable(expecting: 4)
    table.insert(1, -1)
    table.insert(2, Int.min)
    #expect(table.find(-1) { $0 == 1 } == 1)
    #expect(table.find(Int.min) { $0 == 2 } == 2)
  }
}
