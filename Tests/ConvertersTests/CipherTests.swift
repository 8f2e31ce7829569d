import Testing

@testable import Documents

/// The ciphers with which a protected document's parts are written again.
@Suite struct CipherTests {
  private func encrypted(_ bytes: [UInt8], _ method: Protection.Method, _ key: [UInt8]) -> [UInt8] {
    unsafe bytes.withUnsafeBytes { unsafe Cipher.encrypt($0, method, key) }
  }

  @Test func emptyAndWholeBlocksArePadded() {
    for count in [0, 1, 15, 16, 17, 100] {
      let bytes = [UInt8](repeating: 7, count: count)
      for (method, size) in [(Protection.Method.aes128, 16), (.aes256, 32)] {
        let key = (0..<size).map { UInt8($0) }
        let made = encrypted(bytes, method, key)
        // The vector, and one to sixteen bytes more than the text.
        #expect(made.count == 16 + (count / 16 + 1) * 16 && made == encrypted(bytes, method, key))
        // All of the key counts, and each text has a vector of its own.
        for index in [0, size / 2, size - 1] {
          var other = key
          other[index] ^= 1
          #expect(encrypted(bytes, method, other) != made)
        }
        #expect(encrypted(bytes + [1], method, key).prefix(16) != made.prefix(16))
      }
      #expect(encrypted(bytes, .none, []) == bytes)
    }
  }

  @Test func streamCipherIsRC4() {
    #expect(
      encrypted(Array("Plaintext".utf8), .rc4, Array("Key".utf8)) == [
        0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3,
      ])
    #expect(encrypted(Array("pedia".utf8), .rc4, Array("Wiki".utf8)) == [0x10, 0x21, 0xbf, 0x04, 0x20])
  }
}
