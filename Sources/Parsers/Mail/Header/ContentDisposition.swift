/// The requested presentation of a part (RFC 2183).
public struct ContentDisposition: Sendable {
  /// The kind in lower case: `inline`, `attachment`, or another, which is treated as `attachment` (§2.8). Empty if
  /// missing.
  public let kind: String
  public let parameters: Parameters

  public init(_ value: ArraySlice<UInt8>) {
    var cursor = ParameterCursor(value.span.unfolded)
    let kind = cursor.token()
    // Tolerates `Content-Disposition: filename=a.pdf`.
    let isKind = cursor.rest.first != 0x3d
    self.kind = isKind ? Charset.text(kind[...]) : ""
    parameters = isKind ? Parameters(cursor.rest) : Parameters(value)
  }

  /// The decoded name, as recorded, which is not a safe file name.
  public var filename: String? { filename(declared: nil) }

  /// Returns the decoded name. `declared` is the declared character set of unencoded text.
  func filename(declared: ArraySlice<UInt8>?) -> String? { parameters.text("filename", declared: declared) }
}
