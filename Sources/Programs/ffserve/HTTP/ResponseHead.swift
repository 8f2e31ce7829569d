import NIOHTTP1

/// A response's status line and fields as they are sent, without those that depend on the time and the connection.
struct ResponseHead: Sendable {
  let bytes: [UInt8]

  /// The fields of every response.
  private static let usual = """
    X-Content-Type-Options: nosniff\r
    Referrer-Policy: no-referrer\r
    Cross-Origin-Resource-Policy: same-origin\r

    """

  init(_ response: Response) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(640)
    bytes += "HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)\r\n".utf8
    for (name, value) in response.headers {
      bytes += name.utf8
      bytes += ": ".utf8
      // No value can end its field, even if it contains file names (RFC 9110, section 5.5).
      for byte in value.utf8 { bytes.append(byte < 0x20 && byte != 0x09 || byte == 0x7f ? 0x20 : byte) }
      bytes += "\r\n".utf8
    }
    bytes += Self.usual.utf8
    if let length = response.length, response.status != .notModified {
      bytes += "Content-Length: \(length)\r\n".utf8
    }
    self.bytes = bytes
  }
}
