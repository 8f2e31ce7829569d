import Testing

@testable import Bytes

@Suite struct ByteSearchTests {
  @Test func occurrencesAreThoseOfTheStandardLibrary() {
    let text = Array("abcabcabd\0abd".utf8)
    for slice in [text[...], text[3...], text[5..<9], text[9...], text[4..<4]] {
      for pattern in ["a", "abd", "abcabd", "\0a", "", "x", "abcabcabcabcabcabc"] {
        let bytes = Array(pattern.utf8)
        #expect(slice.firstOccurrence(of: bytes) == slice.firstRange(of: bytes), "\(slice) \(pattern)")
        #expect(Array(slice).firstOccurrence(of: bytes[...]) == Array(slice).firstRange(of: bytes))
      }
    }
    #expect([UInt8]().firstOccurrence(of: [1]) == nil && [UInt8]().firstOccurrence(of: []) == 0..<0)
    // Without contiguous storage.
    #expect((1..<9).lazy.map { UInt8($0) }.firstOccurrence(of: [3, 4])?.lowerBound == 3)
  }
}
