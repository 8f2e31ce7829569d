import Bytes
import Codecs
import Foundation
import TestSupport
import Testing

/// Streams of 20 MiB, created once.
struct LongStream: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let code: String

  static let all = [
    LongStream(testDescription: "level 1", code: "deflate(plain, 1)"),
    LongStream(testDescription: "level 9", code: "deflate(plain, 9)"),
    LongStream(testDescription: "stored blocks", code: "deflate(plain, 0)"),
    LongStream(testDescription: "fixed Huffman codes", code: "deflate(plain, 6, zlib.Z_FIXED)"),
    LongStream(testDescription: "Huffman codes without copies", code: "deflate(plain, 6, zlib.Z_HUFFMAN_ONLY)"),
    LongStream(testDescription: "a sync flush every 777 bytes", code: "flushed(plain, zlib.Z_SYNC_FLUSH, 777)"),
  ]

  private static let made: (plain: [UInt8], crc: UInt32, streams: [[UInt8]])? = {
    let code = all.map { "give(\($0.code))\n" }.joined()
    let parts = try? Python.pieces(of: "plain = mixture((20 << 20) + 12345, 11)\ngive(plain)\n" + code)
    guard let parts, let plain = parts.first, parts.count == all.count + 1 else { return nil }
    return (plain.bytes, plain.crc, parts[1...].map(\.bytes))
  }()

  static var isPythonThere: Bool { made != nil }
  static func plain() throws -> [UInt8] { try #require(made).plain }
  static func crc() throws -> UInt32 { try #require(made).crc }

  func compressed() throws -> [UInt8] {
    let index = try #require(LongStream.all.firstIndex { $0.testDescription == testDescription })
    return try #require(LongStream.made).streams[index]
  }
}
