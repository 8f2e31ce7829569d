import Bytes
import ServerAnswers

/// The status and the relevant headers of a response (RFC 9110).
struct AnswerHead: Sendable {
  var status = 0
  /// The strong entity tag, in the form for a condition.
  var tag: String?
  /// The entity tag without the mark of a weak one.
  var version: String?
  /// The range of the body and the total size, in bytes.
  var part: (range: Range<Int64>, size: Int64)?
  /// The size in a 416 response, in bytes.
  var sizeAlone: Int64?
  var length: Int64?
  /// The modification time, in seconds since 1970.
  var modified: Int64?
  /// The Retry-After time, in seconds.
  var retryAfter: Int?
  /// The target of a redirection, as the server reports it.
  var location: String?
  /// Whether the body is encoded, for example compressed. Such a body has other bytes than the file.
  var isEncoded = false
  /// The region of a bucket of S3.
  var region: String?
  /// The permitted methods, of a response to OPTIONS.
  var allow = ""
  /// The number of bytes of an upload that the server has.
  var uploadOffset: Int64?
  /// The media type, in lower case and without parameters.
  var type = ""

  /// Whether this answers a request for the first bytes of an empty file. S3 does not repeat the size.
  var isOfNothing: Bool { status == 416 && (sizeAlone ?? 0) == 0 }

  private var byteCount = 0

  private static let mostBytes = 64 << 10
  private static let longestURL = 8192

  /// Parses a line, which may be a further status line. Returns `false` if it is not part of an acceptable HTTP
  /// response.
  mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
    byteCount += line.count
    guard byteCount <= Self.mostBytes else { return false }
    let text = unsafe String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      let words = text.split(separator: " ", maxSplits: 2)
      guard words.count >= 2, let status = Int(words[1].prefix { $0.isNumber }), (100...599).contains(status) else {
        return false
      }
      let count = byteCount
      self = AnswerHead()
      byteCount = count
      self.status = status
      return true
    }
    guard let colon = text.firstIndex(of: ":") else { return true }
    let value = text[text.index(after: colon)...].filter { $0 != "\r\n" && $0 != "\r" && $0 != "\n" }
      .drop { $0 == " " || $0 == "\t" }
    take(text[..<colon].lowercased(), Self.trimmed(value))
    return true
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }

  private mutating func take(_ name: String, _ value: Substring) {
    switch name {
    case "etag": (tag, version) = (EntityTag.strong(value), EntityTag.opaque(value))
    case "content-length": length = Self.number(value)
    case "content-range": takeRange(value)
    case "last-modified": modified = HTTPTime.seconds(Array(value.utf8))
    case "retry-after": retryAfter = Self.number(value).map { Int(min($0, 3600)) }
    case "location": location = value.utf8.count <= Self.longestURL ? String(value) : nil
    case "content-encoding": isEncoded = !value.isEmpty && value.lowercased() != "identity"
    case "content-type": type = value.prefix { $0 != ";" && $0 != " " }.lowercased()
    case "allow": allow = String(value.prefix(1024))
    case "upload-offset": uploadOffset = Self.number(value)
    case "x-amz-bucket-region": region = BucketError.region(value)
    default: break
    }
  }

  /// Parses `bytes 0-99/1234`, or `bytes */1234`.
  private mutating func takeRange(_ value: Substring) {
    guard value.hasPrefix("bytes ") else { return }
    let parts = value.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let size = Self.number(parts[1]) else { return }
    if parts[0] == "*" {
      sizeAlone = size
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last, last < size
    else { return }
    part = (first..<last + 1, size)
  }

  /// Returns a number of bytes. Returns `nil` for anything else, and for numbers larger than any file.
  private static func number(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int64(digits),
      Bounds.holds(number)
    else { return nil }
    return number
  }
}
