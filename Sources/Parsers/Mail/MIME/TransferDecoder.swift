/// An incremental decoder of a transfer encoding.
///
/// A copy of a decoder is a restart point: its output depends only on the bytes that follow, and not on how they are
/// divided into blocks.
public protocol TransferDecoder: Sendable {
  /// Identifies the decoder in byte identities.
  static var number: UInt64 { get }

  /// The maximum number of output bytes per input byte.
  static var growth: Int { get }

  /// Decodes `input` into `output`. Returns the numbers of bytes used and made. `output` must have space for the
  /// largest possible result and 16 bytes more.
  ///
  /// Uses all of the last block, and some of every block of 2 KiB or more. Unused bytes must be passed again.
  mutating func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool)
    -> (used: Int, made: Int)
}

extension TransferDecoder {
  public static var growth: Int { 1 }

  /// Decodes all of `bytes`, in memory.
  func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var decoder = self
    return unsafe [UInt8](unsafeUninitializedCapacity: Self.growth * bytes.count + 16) { output, count in
      unsafe bytes.withUnsafeBytes { input in
        count = unsafe decoder.decode(input, into: UnsafeMutableRawBufferPointer(output), isLast: true).made
      }
    }
  }
}
