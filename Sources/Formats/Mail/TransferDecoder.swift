/// Turns the bytes of a transfer encoding into those that they stand for, a block at a time.
///
/// A copy of a decoder is a checkpoint: what it makes of the bytes that follow depends on these and on nothing else, so
/// where one block ends and the next begins makes no difference.
public protocol TransferDecoder: Sendable {
  /// Tells one decoder from another in identities.
  static var number: UInt64 { get }

  /// No byte of input becomes more bytes of output than this.
  static var growth: Int { get }

  /// Decodes `input` into `output`, which has room for all that can come of it and 16 bytes more, and gives the bytes used
  /// and made.
  ///
  /// Uses all of the last block, and something of each that holds 2 KiB or more; bytes that it leaves come again.
  mutating func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool)
    -> (used: Int, made: Int)
}

extension TransferDecoder {
  public static var growth: Int { 1 }

  /// All of `bytes` decoded, in memory.
  func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var decoder = self
    return unsafe [UInt8](unsafeUninitializedCapacity: Self.growth * bytes.count + 16) { output, count in
      unsafe bytes.withUnsafeBytes { input in
        count = unsafe decoder.decode(input, into: UnsafeMutableRawBufferPointer(output), isLast: true).made
      }
    }
  }
}
