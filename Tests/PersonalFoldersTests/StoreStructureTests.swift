import Bytes
import Foundation
import PersonalFolders
import TestSupport
import Testing

@testable import Fuzzing

/// Files with folders whose data are hidden, or whose lists and heaps say what cannot be.
@Suite struct StoreStructureTests {
  private static func made(cipher: String = "none", messages: Int, attached: Int) async throws -> [UInt8] {
    try await withScratch { scratch in
      let path = scratch.source + "/a.pst"
      try await script("make_pst.py", "--cipher", cipher, path, "\(messages)", "\(attached)")
      return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }
  }

  private static func reading(_ bytes: [UInt8]) -> StoreReading {
    var reading = StoreReading(size: Int64(bytes.count))
    reading.read(bytes)
    return reading
  }

  @Test(arguments: ["none", "permute", "cyclic"]) func obfuscatedStoreDataAreDecoded(_ cipher: String) async throws {
    let bytes = try await Self.made(cipher: cipher, messages: 3, attached: 9000)
    let isPlain = bytes.firstRange(of: "Word1".utf8.flatMap { [$0, 0] }) != nil
    #expect(isPlain == (cipher == "none"))
    let reading = Self.reading(bytes)
    #expect(reading.messages == 3 && reading.attached == 27_000)
    let file = try StoreFile(ByteArraySource(bytes))
    let subjects = try file.nodes(ofKind: StoreNode.Kind.message, atMost: 10).compactMap { number, _ in
      try file.node(number).flatMap { try PropertyList($0).value(0x37, atMost: 100) }?.bytes
    }
    #expect(subjects.contains("\u{1}\u{1}Message 2".utf8.flatMap { [$0, 0] }))
  }

  /// A column of a table counts in a row only if the row says that it is there.
  @Test func absentTableCellsHaveNoValue() async throws {
    let file = try StoreFile(ByteArraySource(try await Self.made(messages: 1, attached: 100)))
    // The messages of a folder are in its table 14.
    let tables = try file.nodes(ofKind: StoreNode.Kind.folder, atMost: 10).compactMap { number, _ in
      try file.node(number & ~0x1f | 14).map { try StoreTable($0) }
    }
    let table = try #require(tables.first { !$0.rows.isEmpty })
    let row = try #require(table.rows.first)
    #expect(try table.value(0x67f2, in: row, atMost: 100)?.bytes.count == 4)
    #expect(try table.value(0x3602, in: row, atMost: 100) == nil)
  }

  /// The blocks of a file that is not hidden, by what they start with: where each is, its number and its size in bytes.
  private static func blocks(
    _ bytes: [UInt8], _ isWanted: (ArraySlice<UInt8>) -> Bool
  ) -> [(start: Int, number: UInt64, size: Int)] {
    func number(_ place: Int, _ size: Int) -> UInt64 {
      (0..<size).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
    }
    var blocks: [(Int, UInt64, Int)] = []
    for start in stride(from: 0x400, to: bytes.count - 64, by: 64) where isWanted(bytes[start...]) {
      // A trailer is at the end of the last 64 bytes.
      for end in stride(from: start + 48, to: min(bytes.count - 16, start + 9000), by: 64) {
        let size = Int(number(end, 2))
        guard size > 0, (size + 16 + 63) / 64 * 64 == end + 16 - start else { continue }
        blocks.append((start, number(end + 8, 8), size))
        break
      }
    }
    return blocks
  }

  /// A list of blocks, or of nodes, may claim to be a list of lists, and name itself.
  @Test func readingSelfReferencingListsTerminates() async throws {
    let bytes = try await Self.made(messages: 2, attached: 20_000)
    for (kind, level) in [(UInt8(1), UInt8(1)), (2, 0)] {
      let lists = Self.blocks(bytes) {
        $0.starts(with: [kind, level]) && $0.dropFirst(4).first ?? 1 == (kind == 2 ? 0 : 32)
      }
      #expect(!lists.isEmpty)
      for list in lists where list.number & 2 != 0 {
        var mutant = bytes
        mutant[list.start + 1] = level + 1
        // The number behind the key of a node, or the first of the blocks.
        for index in 0..<8 {
          mutant[list.start + (kind == 2 ? 16 : 8) + index] = UInt8(list.number >> UInt64(8 * index) & 0xff)
        }
        #expect(Self.reading(mutant).complaints.isEmpty)
        #expect(Self.reading(mutant).attached < 40_000)
      }
    }
  }

  /// Each place in a heap's map in turn is before the last one, at its end, or beyond the block.
  @Test func heapsStayWithinTheirBlocks() async throws {
    let bytes = try await Self.made(messages: 1, attached: 64)
    let heaps = Self.blocks(bytes) { $0.dropFirst(2).first == 0xec }
    #expect(heaps.count > 5)
    for heap in heaps {
      let map = heap.start + Int(bytes[heap.start]) + Int(bytes[heap.start + 1]) << 8
      let count = Int(bytes[map]) + Int(bytes[map + 1]) << 8
      guard count > 0, count < 200 else { continue }
      for index in 0...count {
        for value in [0, 1, heap.size, heap.size + 1, 0xffff] {
          var mutant = bytes
          mutant[map + 4 + 2 * index] = UInt8(value & 0xff)
          mutant[map + 5 + 2 * index] = UInt8(value >> 8)
          #expect(Self.reading(mutant).complaints.isEmpty)
        }
      }
      // The map itself, and its count.
      for value in [0, heap.size - 1, heap.size, 0xfffe, 0xffff] {
        for place in [heap.start, map] {
          var mutant = bytes
          mutant[place] = UInt8(value & 0xff)
          mutant[place + 1] = UInt8(value >> 8)
          #expect(Self.reading(mutant).complaints.isEmpty)
        }
      }
    }
  }
}
