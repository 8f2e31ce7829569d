/// A parsed `Content-Type` (RFC 2045 §5).
public struct ContentType: Sendable {
  /// Lower case.
  public let type: String
  /// Lower case.
  public let subtype: String
  public let parameters: Parameters

  /// The default for a body without a declared type (RFC 2045 §5.2).
  public static let plainText = ContentType("text/plain".utf8.map { $0 }[...])

  /// Parses a field's value. Without a valid type it is text/plain.
  public init(_ value: ArraySlice<UInt8>) {
    var cursor = ParameterCursor(value.span.unfolded)
    let type = cursor.token()
    let subtype = cursor.take(0x2f) ? cursor.token() : []
    let isSound = !type.isEmpty && !subtype.isEmpty
    // Tolerates `Content-Type: charset=utf-8` and the like: the parameters are still useful.
    let isType = isSound || cursor.rest.first != 0x3d
    self.type = isSound ? Charset.text(type[...]) : "text"
    self.subtype = isSound ? Charset.text(subtype[...]) : "plain"
    parameters = isType ? Parameters(cursor.rest) : Parameters(value)
  }

  /// `type/subtype`.
  public var name: String { "\(type)/\(subtype)" }
  public var isMultipart: Bool { type == "multipart" }

  /// The delimiter of a multipart without its dashes (RFC 2046 §5.1.1). Nil if there is none.
  public var boundary: [UInt8]? {
    guard var boundary = parameters.bytes("boundary") else { return nil }
    while let last = boundary.last, last.isMailSpace { boundary.removeLast() }
    return boundary
  }

  /// Returns the character set that a field's value declares. Returns `nil` if none.
  static func charset(of value: ArraySlice<UInt8>?) -> ArraySlice<UInt8>? {
    value.flatMap { ContentType($0).charset }.map { Array($0.utf8)[...] }
  }

  /// The declared character set. Nil if there is none.
  public var charset: String? { parameters["charset"] }
}
