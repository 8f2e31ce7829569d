internal import Tree

/// A value serialized for the index piecewise, to avoid a second copy in memory.
protocol Packable {
  /// In bytes.
  var packedSize: Int { get }

  /// A range of the bytes; `range` starts at a multiple of 16.
  func packed(_ range: Range<Int>) -> [UInt8]
}

extension Packable {
  var packed: [UInt8] { packed(0..<packedSize) }
}
