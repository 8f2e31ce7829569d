import Bytes
import Testing

struct NumberBytesTests {
  @Test func littleEndianStoresLowestByteFirst() {
    #expect([UInt8](littleEndian: UInt32(0x0102_0304)) == [4, 3, 2, 1])
    #expect([UInt8](littleEndian: Int64(-2)) == [0xfe] + [UInt8](repeating: 0xff, count: 7))
    #expect([UInt8](littleEndian: 0x0102_0304, count: 3) == [4, 3, 2])
    #expect([UInt8](littleEndian: [1, 0x0200]) == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0])
    var bytes: [UInt8] = [9]
    bytes.append(littleEndian: UInt16(0x0102))
    #expect(bytes == [9, 2, 1])
  }

  @Test func bigEndianStoresHighestByteFirst() {
    #expect([UInt8](bigEndian: UInt32(0x0102_0304)) == [1, 2, 3, 4])
    #expect([UInt8](bigEndian: 0x0102_0304, count: 2) == [3, 4])
    #expect([UInt8](bigEndian: [1, 0x0200]) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0])
  }

  @Test func numbersRoundTripThroughBytes() {
    for word in [0, 1, 0xff, 0x0102_0304_0506_0708, UInt64.max] {
      #expect(UInt64(littleEndianBytes: [UInt8](littleEndian: word)) == word)
      #expect(UInt64(bigEndianBytes: [UInt8](bigEndian: word)) == word)
      let signed = Int64(bitPattern: word)
      #expect(Int64(littleEndianBytes: [UInt8](littleEndian: signed)) == signed)
      #expect(Int64(bigEndianBytes: [UInt8](bigEndian: signed)) == signed)
    }
  }

  @Test func missingBytesAreZeroAndExtraBytesAreIgnored() {
    #expect(UInt32(littleEndianBytes: [1, 2]) == 0x0201)
    #expect(UInt32(bigEndianBytes: [1, 2]) == 0x0102)
    #expect(UInt32(littleEndianBytes: []) == 0)
    #expect(UInt16(littleEndianBytes: [1, 2, 3]) == 0x0201)
    #expect(UInt16(bigEndianBytes: [1, 2, 3]) == 0x0102)
  }
}
