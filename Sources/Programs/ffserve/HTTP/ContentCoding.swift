import Bytes
import Codecs
import NIOCore
import NIOHTTP1

/// A content coding of bodies that are made in memory (RFC 9110, section 8.4). Those in front are preferred.
enum ContentCoding: String, CaseIterable {
  case zstd
  case gzip

  /// Returns the coded bytes, or `nil` if there is no memory for that. O(n); blocks for some milliseconds at most.
  func encode(_ bytes: ByteBuffer) -> [UInt8]? {
    unsafe bytes.withUnsafeReadableBytes { bytes in
      let bytes = unsafe RawSpan(_unsafeBytes: bytes)
      return switch self {
      case .zstd: ZstdEncoder.encode(bytes, level: 3)
      case .gzip: Self.gzip(bytes)
      }
    }
  }

  /// Returns the bytes in the gzip format (RFC 1952).
  private static func gzip(_ bytes: RawSpan) -> [UInt8] {
    var packed: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
    Deflater().deflate(bytes, isLast: true, to: &packed)
    for number in [CRC32.of(bytes), UInt32(truncatingIfNeeded: bytes.byteCount)] {
      packed += (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return packed
  }
}

extension HTTPRequest {
  /// The coding that the client accepts with the greatest weight (RFC 9110, section 12.5.3). Nil if it accepts none.
  var acceptedCoding: ContentCoding? {
    var best: (coding: ContentCoding, weight: Double)?
    let items = headers["accept-encoding"].flatMap { $0.split(separator: ",") }
    for coding in ContentCoding.allCases {
      for item in items {
        let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard parts.first == coding.rawValue else { continue }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        if weight > best?.weight ?? 0 { best = (coding, weight) }
      }
    }
    return best?.coding
  }
}
