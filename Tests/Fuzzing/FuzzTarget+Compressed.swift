internal import Bytes
internal import Codecs
internal import TestSupport

extension FuzzTarget {
  /// Compressed files of every format: read in any order, with a spool, a full one, or none.
  public static let compressed = FuzzTarget(name: "compressed") {
    CompressedSeeds.all
  } complaints: { bytes in
    let packing = CompressedFormat(startingWith: bytes.prefix(CompressedFormat.headSize)) ?? .brotli
    let spool = bytes.count % 3
    func content() -> UnpackedSource {
      UnpackedSource(
        of: ByteArraySource(bytes), packing, limit: 4 << 20, cache: BlockCache(capacity: 2 << 20),
        spool: { spool == 0 ? nil : MemorySpool(capacity: spool == 1 ? .max : 1 << 20) })
    }
    var complaints: [String] = []
    let whole = content()
    guard let all = try? whole.readThrough(step: 100_000) else { return [] }
    let other = content()
    for place in [all.count / 2, all.count - 1, 0, all.count / 3, all.count] where place >= 0 {
      guard let part = try? other.partialBytes(at: Int64(place), count: 5000) else { continue }
      if part != Array(all[place..<min(all.count, place + 5000)]) {
        complaints.append("other bytes at \(place) than front to back")
      }
    }
    if (try? other.findSize(.blocking)) != nil, other.size != Int64(all.count) {
      complaints.append("a size of \(other.size) and \(all.count) bytes")
    }
    return complaints
  }
}

/// One text in every format.
public enum CompressedSeeds {
  public static let plain =
    Array(String(repeating: "The quick brown fox. ", count: 30).utf8) + (0..<64).map { UInt8($0) }

  public static var all: [[UInt8]] { named.map(\.bytes) }

  public static let named: [(name: String, bytes: [UInt8])] = texts.map { ($0.0, bytes($0.1)) }

  private static let texts = [
    (
      "gzip",
      """
      1f8b08000000000000030bc94855282ccd4cce56482aca2fcf5348cbafd0530819151c15a4a520032313330b2b1b3b072717370f2f1fbf
      80a090b088a898b884a494b48cac9cbc82a292b28aaa9aba86a696b68eae9ebe81a191b189a999b985a595b58dad9d3d002c694367b602
      0000
      """
    ),
    (
      "bzip2",
      """
      425a6839314159265359c253b7c4000079fb807fffffffffffffff84001b69b2c020008423d5280003468069a000340034000001b55402
      30086023002600000001a34f52929c3974ede3d7cfe041850e2458d1d691257952e64d9d3e8314596a9a840ee8078403aa015abd8b36ad
      dcbb7afb5830fe4031ad932e6cfa34ea6f5ecdbbb7f0e3c991039a9006900d201ca03aa03d201a403100c4036807a806d00c4031203d8b
      b9229c28486129dbe200
      """
    ),
    (
      "xz",
      """
      fd377a585a000004e6d6b4460200210116000000742fe5a3e0018f001e5d002a1a08a2032566f14b78c5a205ff2ee6d9d2201aaf02eeb3
      b8d2dfe40000000000fb5c6e81c7fcc63c0200210116000000742fe5a3e0012500585d0034194006123dca3b30a256862f48f81f297ae0
      c5b647b634417d5c1eb80c18ef71c46f450589cd61d665f8616fd7b807d322ac1cff9956a8a17c8d38022613819e95adef38e1f73e7812
      40f762dcaf010bc7d8bee625f01100da14aa6c97fa633b00023a900374a602bad844d1b1c467fb020000000004595a
      """
    ),
    (
      "zstd",
      """
      28b52ffd0458ed0200540554686520717569636b2062726f776e20666f782e20000102030405060708090a0b0c0d0e0f10111213141516
      1718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f0100bd6035991e620809
      """
    ),
    (
      "lz4",
      """
      04224d186440a75e000000ff0654686520717569636b2062726f776e20666f782e201500ffff50f031000102030405060708090a0b0c0d
      0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f000000007b
      138faf
      """
    ),
    (
      "lzip",
      """
      4c5a4950010c002a1a08a2032566f14b78c5a205ff2ee6d9d2201aaf02eeb3b8d413bed6e241d65ea677c56843f1311dcecebff35fd4e0
      0f69b8d0a1952376460a77bdd930fd921a565d365e488ff18aa7ca415701b957ff30a1ff7defa3073499e61cfff2fa00002c694367b602
      0000000000007c00000000000000
      """
    ),
    (
      "lzma",
      """
      5d00008000ffffffffffffffff002a1a08a2032566f14b78c5a205ff2ee6d9d2201aaf02eeb3b8d413bed6e241d65ea677c56843f1311d
      cecebff35fd4e00f69b8d0a1952376460a77bdd930fd921a565d365e488ff18aa7ca415701b957ff30a1ff7defa3073499e61cfff2fa00
      00
      """
    ),
    (
      "brotli",
      """
      1bb502006471dbf15287d9512b8590f064021b70e01649e201c1647e865965bb8cf0bc1ba03bb76f8569fb31842082a46886e5c8011f18
      9a8117444956544d374ccbc68eebf94118c5499ae54559d50d
      """
    ),
    (
      "compress",
      """
      1f9d9054d0940111a74e9a316b408891f3e68e1b1066dee0710122e0c08207132e6cf830e2c48a02091a44a890a1438812295a1499b124
      47941f576224b9f1a4479521676a34d93125c88b2377bebcf993254d9e3071026d59b367cc9c415ddaf429336ad3a445754a75aad4a8d0
      a94f971e1d4a152a53a444ab9e251bd6eb56ac6ac782edaaf56a5ab372b966b58ab6acd8af7ae302868b77f0ddbf6f0fbbb5eb7771dfb6
      751fd3e5cb76f2dab920000410308040010307102450b0804103070f204490308142050b173064d0b08143070f1f408410318244091327
      50a450b182450b172f60c4903183460d1b3770e4d0b183470f1f3f00
      """
    ),
  ]

  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
