import Bytes
import Codecs
import NIOCore
import NIOHTTP1

extension Response {
  /// The minimum size of a body that is compressed, in bytes.
  private static let leastCompressed = 1024
  /// The beginnings of media types whose bodies shrink.
  private static let compressible = ["application/json", "application/xml", "text/"]

  /// Returns the response with its body compressed by gzip, if the client accepts that and the response was made in memory.
  /// A file keeps its bytes, of which clients request parts. Blocks for some milliseconds at most.
  func compressed(for request: HTTPRequest) -> Response {
    guard case .buffer(let bytes) = body, bytes.readableBytes >= Self.leastCompressed,
      status == .ok || status == .multiStatus, header("Accept-Ranges") == nil, let type = header("Content-Type"),
      Self.compressible.contains(where: { type.hasPrefix($0) })
    else { return self }
    let varied = with("Vary", (header("Vary").map { "\($0), " } ?? "") + "Accept-Encoding")
    guard request.acceptsGzip else { return varied }
    // The tag is of the bytes before the compression, so it is weak.
    let tag = header("ETag").map { $0.hasPrefix("W/") ? $0 : "W/" + $0 }
    let tagged = tag.map { varied.with("ETag", $0) } ?? varied
    return Response(
      status, headers: tagged.headers + [("Content-Encoding", "gzip")], .bytes(Self.gzip(bytes)))
  }

  private func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Returns the bytes in the gzip format (RFC 1952).
  private static func gzip(_ bytes: ByteBuffer) -> [UInt8] {
    var packed: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
    var crc = CRC32()
    unsafe bytes.withUnsafeReadableBytes { bytes in
      unsafe crc.update(bytes)
      unsafe Deflater().deflate(RawSpan(_unsafeBytes: bytes), isLast: true, to: &packed)
    }
    for number in [crc.value, UInt32(truncatingIfNeeded: bytes.readableBytes)] {
      packed += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return packed
  }
}

extension HTTPRequest {
  /// Whether the client accepts gzip (RFC 9110, section 12.5.3).
  var acceptsGzip: Bool {
    headers["accept-encoding"].contains { value in
      value.split(separator: ",").contains { item in
        let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=0") && !$0.contains { "123456789".contains($0) } }
        return parts.first == "gzip" && !isRefused
      }
    }
  }
}
