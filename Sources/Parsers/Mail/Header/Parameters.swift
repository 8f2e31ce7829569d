internal import Text

/// The parameters of a header field (RFC 2045 §5.1, RFC 2231).
///
/// Tolerant: empty parameters (`;;`), unquoted values that should be quoted, unterminated quotes, comments, encoded
/// words and raw 8-bit text in values, literal backslashes. Of duplicate names the first is used, and a value in RFC
/// 2231 form is preferred to a plain one. At most `limit` are read.
public struct Parameters: Sendable {
  public static let limit = 1000

  private struct Piece {
    /// Lower case, without `*` and anything after it.
    var name: [UInt8]
    /// The number of a continuation (RFC 2231 §3).
    var index: Int?
    /// Whether the value has the form charset'language'percent-encoded, or continues one.
    var isExtended: Bool
    var value: [UInt8]
    var order: Int
  }

  private struct Value {
    var name: [UInt8]
    var bytes: [UInt8]
    /// The declared character set. Nil for a plain value, which may contain encoded words.
    var charset: ArraySlice<UInt8>?
  }

  private var values: [Value] = []

  public init() {}

  /// Parses the text after a field's first token. O(n) except for sorting.
  public init(_ text: ArraySlice<UInt8>) {
    var cursor = ParameterCursor(text.span.unfolded)
    var pieces: [Piece] = []
    while pieces.count < Parameters.limit, let (name, value) = cursor.next() {
      pieces.append(Parameters.piece(name, value, order: pieces.count))
    }
    // Groups pieces by name, extended ones first, continuations in order.
    pieces.sort { one, other in
      if one.name != other.name { return one.name.lexicographicallyPrecedes(other.name) }
      let ranks = (Parameters.rank(one), Parameters.rank(other))
      if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
      if one.index != other.index { return (one.index ?? 0) < (other.index ?? 0) }
      return one.order < other.order
    }
    var index = 0
    while index < pieces.count {
      var end = index + 1
      while end < pieces.count, pieces[end].name == pieces[index].name { end += 1 }
      values.append(Parameters.joined(pieces[index..<end]))
      index = end
    }
  }

  /// The decoded value of a parameter. `name` is in lower case.
  public subscript(_ name: StaticString) -> String? { text(name, declared: nil) }

  /// Returns the decoded value of a parameter. `declared` is the declared character set of unencoded text.
  func text(_ name: StaticString, declared: ArraySlice<UInt8>?) -> String? {
    guard let value = values.first(where: { $0.name.span.equalsIgnoringCase(name) }) else { return nil }
    guard let charset = value.charset else { return EncodedWords.decode(value.bytes[...], declared: declared) }
    return Charset.text(value.bytes[...], named: charset)
  }

  /// Returns the bytes of a parameter, unquoted but not decoded further, for example a boundary. `name` is in lower
  /// case.
  public func bytes(_ name: StaticString) -> [UInt8]? {
    values.first { $0.name.span.equalsIgnoringCase(name) }?.bytes
  }

  /// All parameters, decoded, sorted by name.
  public var all: [(name: String, value: String)] {
    values.map { value in
      let text =
        value.charset.map { Charset.text(value.bytes[...], named: $0) } ?? EncodedWords.decode(value.bytes[...])
      return (Charset.text(value.name[...]), text)
    }
  }

  private static func rank(_ piece: Piece) -> Int { piece.index != nil ? 1 : piece.isExtended ? 0 : 2 }

  /// Parses a name such as `name*2*`.
  private static func piece(_ name: [UInt8], _ value: [UInt8], order: Int) -> Piece {
    var piece = Piece(name: name, isExtended: false, value: value, order: order)
    guard let star = name.firstIndex(of: 0x2a) else { return piece }
    var rest = name[(star + 1)...]
    if rest.isEmpty || rest.last == 0x2a {
      piece.isExtended = true
      rest = rest.dropLast()
    }
    if !rest.isEmpty {
      guard rest.count <= 4, rest.allSatisfy({ $0.isAsciiDigit }) else { return piece }
      piece.index = rest.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    piece.name = Array(name[..<star])
    return piece
  }

  /// Joins the sorted pieces of one name.
  private static func joined(_ pieces: ArraySlice<Piece>) -> Value {
    guard let first = pieces.first else { return Value(name: [], bytes: []) }
    guard first.index != nil else {
      guard first.isExtended else { return Value(name: first.name, bytes: first.value) }
      let (charset, text) = extended(first.value)
      return Value(name: first.name, bytes: text.percentDecoded, charset: charset)
    }
    // Up to the first gap; some programs count from 1.
    var value = Value(name: first.name, bytes: [])
    var expected = first.index == 1 ? 1 : 0
    for piece in pieces {
      guard let index = piece.index, index <= expected else { break }
      if index < expected { continue }
      if value.bytes.isEmpty, value.charset == nil, piece.isExtended {
        let (charset, text) = extended(piece.value)
        value.charset = charset
        value.bytes = text.percentDecoded
      } else {
        value.bytes += piece.isExtended ? piece.value[...].percentDecoded : piece.value
      }
      expected += 1
    }
    if expected == 0, let plain = pieces.first(where: { $0.index == nil }) { value.bytes = plain.value }
    return value
  }

  /// Splits charset'language'text (RFC 2231 §4). Without both apostrophes everything is text.
  private static func extended(_ value: [UInt8]) -> (charset: ArraySlice<UInt8>, text: ArraySlice<UInt8>) {
    guard let first = value.firstIndex(of: 0x27), let second = value[(first + 1)...].firstIndex(of: 0x27) else {
      return ([], value[...])
    }
    return (value[..<first], value[(second + 1)...])
  }
}
