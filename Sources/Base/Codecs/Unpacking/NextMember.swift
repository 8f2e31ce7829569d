internal import Bytes

extension CompressedFormat {
  /// Finds the next member of a file after zeros. Returns the number of zeros, or `nil` if the file ends after them.
  ///
  /// Throws a damaged fault if anything else follows a member, because it may be a damaged member.
  ///
  /// - Parameters:
  ///   - end: The offset of a member's end in the file.
  ///   - peek: Returns a number of bytes at a distance from `end`, fewer at the end of the file.
  func nextMember(
    after end: Int64, _ peek: (_ count: Int, _ distance: Int64) throws(Fault) -> [UInt8]
  ) throws(Fault) -> Int64? {
    var zeros: Int64 = 0
    var head = try peek(Self.headSize, 0)
    while head.first == 0 {
      try CancellationToken.check()
      zeros += Int64(try peek(64 << 10, zeros).prefix { $0 == 0 }.count)
      head = try peek(Self.headSize, zeros)
    }
    let isPadding = zeros.isMultiple(of: paddingUnit)
    if isPadding, head.isEmpty { return nil }
    guard isPadding, isJoined, starts(with: head[...]) else {
      let expected = isJoined ? "another \(name) member or the end" : "the end of the \(name) data"
      throw Fault(.damaged, "expected \(expected), found other bytes", atByte: end + zeros)
    }
    return zeros
  }

  /// The number of zeros whose multiples may follow a member.
  private var paddingUnit: Int64 { self == .xz ? 4 : 1 }

  /// Whether a file can contain several members.
  private var isJoined: Bool {
    switch self {
    case .gzip, .bzip2, .xz, .zstd, .lz4, .lzip: true
    case .lzma, .compress, .brotli: false
    }
  }
}
