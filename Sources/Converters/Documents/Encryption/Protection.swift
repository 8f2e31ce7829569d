internal import Bytes

/// How a document is encrypted (ISO 32000-2, 7.6), so that what is made of it is encrypted in the same way: by the same key,
/// for the same passwords, with the same permissions.
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
  /// Of the files that are attached.
  let files: Method
  /// Whether the document's own metadata can be read by everybody.
  let sparesMetadata: Bool
  /// `/Encrypt`, in the notation of PDF.
  let dictionary: [UInt8]
  /// The first of the document's identifiers, from which the key was made.
  let id: [UInt8]
  /// Whether it was opened with its owner's password.
  let isOwners: Bool

  /// Whether nothing but attached files is encrypted.
  var isForFilesOnly: Bool { strings == .none && streams == .none }

  /// A stream's bytes as they are to be written into the object of a number.
  ///
  /// - Parameter dictionary: the stream's.
  func encrypted(_ data: RawSpan, of number: Int, _ dictionary: ObjectText) -> [UInt8]? {
    var method = streams
    if dictionary.has("/EmbeddedFile", for: "/Type") { method = files }
    if sparesMetadata, dictionary.has("/Metadata", for: "/Type") { method = .none }
    if method == .none { return nil }
    return unsafe data.withUnsafeBytes { unsafe Cipher.encrypt($0, method, key(for: number, method)) }
  }

  /// An object's text with its strings as they are to be written.
  func encrypted(_ text: [UInt8], of number: Int) -> [UInt8] {
    if strings == .none { return text }
    let key = key(for: number, strings)
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

  /// Algorithm 1; objects that are written here are of generation 0.
  private func key(for number: Int, _ method: Method) -> [UInt8] {
    if method == .aes256 { return key }
    var bytes = key + [0, 8, 16].map { UInt8(truncatingIfNeeded: number >> $0) } + [0, 0]
    if method == .aes128 { bytes += "sAlT".utf8 }
    return Array(Cipher.md5(bytes).prefix(min(key.count + 5, 16)))
  }
}

extension ObjectText {
  /// A string in the notation of PDF.
  static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [0x3C] + bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + [0x3E]
  }
}
