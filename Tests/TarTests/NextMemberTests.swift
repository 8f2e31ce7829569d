import Bytes
import Codecs
import TestSupport
import Testing

@testable import Fuzzing

/// Bytes that follow a member of a compressed file: another member, padding, or damage.
@Suite(.timeLimit(.minutes(5))) struct NextMemberTests {
  private static let joined = ["gzip", "bzip2", "xz", "zstd", "lz4", "lzip"]
  private static let plain = CompressedSeeds.plain

  private static func member(_ format: String) throws -> [UInt8] {
    try #require(CompressedSeeds.named.first { $0.name == format }).bytes
  }

  private static func source(_ bytes: [UInt8], _ store: PlaceStore? = nil) throws -> UnpackedSource {
    UnpackedSource(
      of: CountingSource(bytes), try #require(CompressedFormat(startingWith: bytes[...])),
      cache: BlockCache(capacity: 1 << 20, restarts: store))
  }

  @Test(arguments: joined) func zerosMayFollowMembers(format: String) throws {
    let member = try Self.member(format)
    let zeros = [UInt8](repeating: 0, count: 200_000)
    for (bytes, count) in [(member + zeros, 1), (member + member, 2), (member + zeros + member + zeros, 2)] {
      let source = try Self.source(bytes)
      #expect(try source.readThrough() == Array(repeatElement(Self.plain, count: count).joined()))
      #expect(source.hasKnownSize && source.fault == nil, "\(String(describing: source.fault))")
    }
  }

  /// The content before the foreign bytes is intact, and the content does not end there without a fault.
  @Test(arguments: joined) func foreignBytesBehindMemberAreDamage(format: String) throws {
    let member = try Self.member(format)
    let start = member.count
    var damaged = member
    damaged[0] ^= 0x40
    let tails: [(String, [UInt8])] = [
      ("a signature", Array("signature".utf8)), ("one byte", [7]),
      ("bytes before a member", Array("XYZW".utf8) + member),
      ("a damaged member", damaged), ("a member's first byte", Array(member.prefix(1))),
      ("three bytes of a member", Array(member.prefix(3))),
    ]
    for (name, tail) in tails {
      let store = PlaceStore()
      // The second process takes the result from the store.
      for round in 0..<2 {
        let source = try Self.source(member + tail, store)
        let content = try source.readThrough()
        // An index at the end of an xz file leads to a member whose header is damaged.
        #expect(content == Self.plain || content == Self.plain + Self.plain, "\(name), round \(round)")
        let fault = try #require(source.fault, "\(name), round \(round)")
        #expect(fault.kind == .damaged && fault.offset == Int64(start), "\(name), round \(round): \(fault)")
        #expect(source.assurance(of: 0..<Int64(Self.plain.count)) == .checked, "\(name), round \(round)")
        guard case .damaged = source.assurance(of: 0..<Bounds.largestSize) else {
          Issue.record("\(name), round \(round): has no damaged end")
          continue
        }
        store.settle()
      }
    }
  }

  @Test func paddingOfXZIsMultipleOfFourZeros() throws {
    let member = try Self.member("xz")
    for count in 1...8 {
      let source = try Self.source(member + [UInt8](repeating: 0, count: count))
      #expect(try source.readThrough() == Self.plain)
      #expect((source.fault == nil) == count.isMultiple(of: 4), "\(count) zeros")
    }
  }

  /// The index at the end and the checksums of the blocks prove the content regardless of the header.
  @Test(arguments: [6, 7, 8, 11]) func damagedXZHeaderIsFault(byte: Int) throws {
    var bytes = try Self.member("xz")
    bytes[byte] ^= 0x10
    let source = try Self.source(bytes)
    #expect(try source.readThrough() == Self.plain)
    #expect(source.fault?.kind == .damaged && source.fault?.offset == 0, "\(String(describing: source.fault))")
    source.distrustEnd()
    try source.finishAllChecks()
    #expect(source.assurance(of: 0..<Int64(Self.plain.count)) == .checked)
  }

  /// The older format of LZ4 has no mark at its end.
  @Test func olderLZ4EndsBeforeForeignBytes() throws {
    let text = Array("hello".utf8)
    let member: [UInt8] = [0x02, 0x21, 0x4c, 0x18, 6, 0, 0, 0, 0x50] + text
    for (tail, isSound) in [([], true), ([UInt8](repeating: 0, count: 8), true), (Array("garbage".utf8), false)] {
      let source = try Self.source(member + tail)
      #expect(try source.readThrough() == text)
      #expect((source.fault == nil) == isSound, "\(tail)")
      if !isSound { #expect(source.fault?.offset == Int64(member.count)) }
    }
  }
}
