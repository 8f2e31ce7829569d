import Bytes
import Testing

@Suite struct ByteReaderTests {
  @Test func integersAreLittleEndianAndMoveTheCursor() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span, originByte: 100)
    #expect(try reader.u8() == 1)
    #expect(try reader.u16() == 0x0302)
    #expect(try reader.u32() == 0x0706_0504)
    #expect(try reader.u64() == 0x0f0e_0d0c_0b0a_0908)
    #expect(reader.remaining == 0 && reader.position == 15 && reader.sourceOffset == 115)
  }

  @Test func readPastTheEndThrows() throws {
    let bytes: [UInt8] = [1, 2, 3]
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span, originByte: 10)
    try reader.skip(1)
    for count in [3, 4, 1000, Int.max, -1, Int.min] {
      do throws(Fault) {
        try reader.skip(count)
        Issue.record("skipped \(count)")
      } catch { #expect(error.kind == .damaged && error.offset == 11) }
      do throws(Fault) {
        _ = try reader.slice(count)
        Issue.record("sliced \(count)")
      } catch { #expect(error.kind == .damaged && error.offset == 11) }
    }
    do throws(Fault) {
      _ = try reader.u32()
      Issue.record("read four bytes of two")
    } catch { #expect(error.offset == 11) }
    // A failed read does not move the position.
    #expect(reader.position == 1)
    #expect(try reader.u16() == 0x0302)
    do throws(Fault) {
      _ = try reader.u8()
      Issue.record("read past the end")
    } catch { #expect(error.offset == 13) }
  }

  @Test func sliceReturnsNextBytes() throws {
    let bytes: [UInt8] = [1, 2, 3, 4]
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    try reader.skip(1)
    #expect(try reader.slice(2).array == [2, 3])
    #expect(try reader.slice(0).array == [])
    #expect(reader.remaining == 1)
  }

  @Test func emptySpanHasNoBytes() throws {
    let bytes: [UInt8] = []
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    #expect(try reader.slice(0).array == [])
    try reader.skip(0)
    do throws(Fault) {
      _ = try reader.u8()
      Issue.record("read of nothing")
    } catch { #expect(error.offset == 0) }
  }
}
