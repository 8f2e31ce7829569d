internal import Bytes
internal import Text

/// A body part (RFC 2045 §2.5), or the message itself: its header values, and the location of its bytes.
struct Part: Sendable {
  enum Kind: Sendable {
    /// Contains parts.
    case multipart
    case plain
    case html
    /// An image, sound or film.
    case media
    /// Another message, which is not parsed.
    case message
    case tnef
    /// Signed content together with its signatures (S/MIME), or a part that may be that.
    case signed
    case other
  }

  enum Encoding: Sendable { case identity, base64, quotedPrintable, uuencode }

  /// The index of the enclosing multipart. Nil for the message itself.
  let parent: Int?
  /// The index among the parts of its multipart, from 0.
  let position: Int
  private(set) var kind: Kind
  /// `type/subtype` in lower case.
  private(set) var contentType: String
  let encoding: Encoding
  /// Whether the header requests presentation as a file (RFC 2183 §2.2, §2.8).
  let isAttachment: Bool
  /// The decoded name, as recorded.
  let name: String?
  /// The declared character set.
  let charset: String?
  let isFlowed: Bool
  let deletesSpace: Bool
  /// The content ID, without the angle brackets.
  let contentID: [UInt8]?
  /// The part's original location (RFC 2557 §4), by which links may refer to it.
  let location: [UInt8]?
  /// The root of a multipart/related (RFC 2387 §3.1, §3.2): a content ID, and a content type in lower case.
  let rootID: [UInt8]?
  let rootType: String?
  /// The offset of its header.
  let start: Int64
  var body: Range<Int64>

  /// Reads the header section. `isInDigest` changes the default content type (RFC 2046 §5.1.5). `declared` is the
  /// character set that preceding parts declare.
  init(
    _ header: Header, at start: Int64, parent: Int?, position: Int, isInDigest: Bool, declared: String?,
    body: Range<Int64>
  ) {
    let message = ContentType(Array("message/rfc822".utf8)[...])
    let type = header.contentType ?? (isInDigest ? message : .plainText)
    let disposition = header.contentDisposition
    self.parent = parent
    self.position = position
    self.start = start
    self.body = body
    contentType = type.name
    encoding = Self.encoding(header.first("content-transfer-encoding"))
    let charset = type.charset
    let label = (charset ?? declared).map { Array($0.utf8)[...] }
    name = disposition?.filename(declared: label) ?? type.parameters.text("name", declared: label)
    isAttachment = disposition.map { !$0.kind.isEmpty && $0.kind != "inline" } ?? false
    self.charset = charset
    isFlowed = type.parameters["format"]?.lowercased() == "flowed"
    deletesSpace = type.parameters["delsp"]?.lowercased() == "yes"
    contentID = header.first("content-id").map { Self.bareID($0) }
    rootID = type.parameters.bytes("start").map { Self.bareID($0[...]) }
    rootType = type.parameters["type"]?.lowercased()
    location = (header.first("content-location") ?? header.first("content-base")).flatMap { Self.location($0) }
    kind = Self.kind(type, name)
  }

  /// Returns an ID without its angle brackets.
  private static func bareID(_ value: ArraySlice<UInt8>) -> [UInt8] {
    let isOutside: (UInt8) -> Bool = { $0 == 0x3c || $0 == 0x3e || $0 <= 0x20 }
    return Array(value.drop(while: isOutside).prefix { !isOutside($0) })
  }

  /// The maximum size of a URL, in bytes: each link in the message may be resolved against it.
  private static let longestLocation = 4096

  /// Parses a URL, which may be folded (RFC 2557 §4.4.2), quoted, or an encoded word.
  private static func location(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    let text = value.starts(with: [0x3d, 0x3f]) ? Array(EncodedWords.decode(value).utf8)[...] : value
    let location = text.filter { $0 > 0x20 && $0 != 0x22 }
    return location.isEmpty || location.count > longestLocation ? nil : location
  }

  /// Whether it is text of another type than those always shown, neither an attachment nor named.
  var isOtherText: Bool { kind == .other && !isAttachment && name == nil && contentType.hasPrefix("text/") }

  var isAlternative: Bool { contentType == "multipart/alternative" }
  var isRelated: Bool { contentType == "multipart/related" }
  var isDigest: Bool { contentType == "multipart/digest" }

  /// Treats the content of a multipart without parts as text.
  mutating func becomePlain() {
    kind = .plain
    contentType = "text/plain"
  }

  private static func kind(_ type: ContentType, _ name: String?) -> Kind {
    switch (type.type, type.subtype) {
    case ("multipart", _): .multipart
    case ("text", "plain"): .plain
    case ("text", "html"): .html
    case ("image", _), ("audio", _), ("video", _): .media
    case ("message", "rfc822"), ("message", "global"): .message
    case ("application", "ms-tnef"), ("application", "vnd.ms-tnef"): .tnef
    case ("application", "octet-stream") where name?.lowercased() == "winmail.dat": .tnef
    case ("application", "pkcs7-mime"), ("application", "x-pkcs7-mime"): .signed
    case ("application", "octet-stream") where name?.lowercased().hasSuffix(".p7m") == true: .signed
    default: .other
    }
  }

  /// Returns the encoding. Unknown encodings are treated as none.
  private static func encoding(_ value: ArraySlice<UInt8>?) -> Encoding {
    guard let value else { return .identity }
    let isOfToken: (UInt8) -> Bool = { $0.isAsciiLetter || $0.isAsciiDigit || $0 == 0x2d }
    let token = value.drop { !isOfToken($0) }.prefix(while: isOfToken)
    switch String(decoding: token.map { $0.asciiLowercase }, as: UTF8.self) {
    case "base64", "b", "x-base64": return .base64
    case "quoted-printable", "quotedprintable", "qp": return .quotedPrintable
    case "x-uuencode", "uuencode", "x-uue", "uue": return .uuencode
    default: return .identity
    }
  }
}
