package import Bytes

/// RTF as Outlook stores it ([MS-OXRTFCP]).
package enum CompressedRTF {
  /// Returns the RTF itself, with its exact size and random access. Returns `nil` for other data (§2.1.3.1). Decodes it
  /// once. Blocks.
  package static func plain(_ source: any ByteSource) throws(Fault) -> (any ByteSource)? {
    guard source.size >= 16 else { return nil }
    let kind = try source.bytes(at: 8, count: 4)
    return switch kind {
    case Array("LZFu".utf8): try DecodedSource(decoding: 16..<source.size, of: source, with: LZFuDecoder())
    case Array("MELA".utf8): ByteRange(of: source, start: 16, size: source.size - 16)
    default: nil
    }
  }
}
