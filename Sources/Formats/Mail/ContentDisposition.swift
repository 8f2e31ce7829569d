/// How a part is to be shown (RFC 2183).
public struct ContentDisposition: Sendable {
  /// Lower case: `inline`, `attachment`, or another, which is to be taken for `attachment` (§2.8); empty when there is none.
  public let kind: String
  public let parameters: Parameters

  public init(_ value: ArraySlice<UInt8>) {
    var cursor = ParameterCursor(value.span.unfolded)
    let kind = cursor.token()
    // `Content-Disposition: filename=a.pdf`.
    let isKind = cursor.rest.first != 0x3d
    self.kind = isKind ? Charset.text(kind[...]) : ""
    parameters = isKind ? Parameters(cursor.rest) : Parameters(value)
  }

  /// Decoded, as recorded: not yet safe as a name.
  public var filename: String? { filename(declared: nil) }

  /// The same; `declared` is what the message says that raw text is in.
  func filename(declared: ArraySlice<UInt8>?) -> String? { parameters.text("filename", declared: declared) }
}
