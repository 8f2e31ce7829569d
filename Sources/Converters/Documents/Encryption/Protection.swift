internal import Bytes

/// A document's encryption (ISO 32000-2, 7.6), so that copies are encrypted in the same way: with the same key,
/// passwords and permissions.
struct Protection {
  enum Method {
    case none
    case rc4
    case aes128
    case aes256
  }

  let key: [UInt8]
  let strings: Method
  let streams: Method
  /// The method for attached files.
  let files: Method
  /// Whether the document's metadata is not encrypted.
  let sparesMetadata: Bool
  /// The `/Encrypt` dictionary, in PDF syntax.
  let dictionary: [UInt8]
  /// The document's first identifier, from which the key was derived.
  let id: [UInt8]
  /// Whether the document was opened with the owner password.
  let isOwners: Bool

  /// Whether only attached files are encrypted.
  var isForFilesOnly: Bool { strings == .none && streams == .none }

  /// Returns a stream's bytes encrypted for an object number. Returns `nil` if the stream is not encrypted.
  ///
  /// - Parameter dictionary: the stream's dictionary.
  func encrypted(_ data: RawSpan, of number: Int, _ dictionary: ObjectText) -> [UInt8]? {
    var method = streams
    if dictionary.has("/EmbeddedFile", for: "/Type") { method = files }
    if sparesMetadata, dictionary.has("/Metadata", for: "/Type") { method = .none }
    if method == .none { return nil }
    return unsafe data.withUnsafeBytes { unsafe Cipher.encrypt($0, method, key(for: number, method)) }
  }

  /// Returns an object's text with its strings encrypted.
  func encrypted(_ text: [UInt8], of number: Int, generation: Int = 0) -> [UInt8] {
    if strings == .none { return text }
    let key = key(for: number, generation: generation, strings)
    var result: [UInt8] = []
    result.reserveCapacity(text.count * 2)
    var end = 0
    for range in ObjectText.strings(in: text) {
      guard let string = ObjectText.string(text[range]) else { continue }
      result += text[end..<range.lowerBound]
      let bytes = unsafe string.withUnsafeBytes { unsafe Cipher.encrypt($0, strings, key) }
      result += ObjectText.hexadecimal(bytes)
      end = range.upperBound
    }
    return result + text[end...]
  }

  /// Returns the key for an object (algorithm 1).
  private func key(for number: Int, generation: Int = 0, _ method: Method) -> [UInt8] {
    if method == .aes256 { return key }
    var bytes = key + [UInt8](littleEndian: number, count: 3) + [UInt8](littleEndian: generation, count: 2)
    if method == .aes128 { bytes += "sAlT".utf8 }
    return Array(Cipher.md5(bytes).prefix(min(key.count + 5, 16)))
  }
}

extension ObjectText {
  /// Returns a hexadecimal string in PDF syntax.
  static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [0x3C] + bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + [0x3E]
  }
}
