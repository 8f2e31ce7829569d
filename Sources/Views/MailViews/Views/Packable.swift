internal import Tree

/// A value that is serialized for the index in pieces, to avoid a second copy in memory.
protocol Packable {
  /// The size of the serialized form, in bytes.
  var packedSize: Int { get }

  /// Returns a range of the serialized form. `range` starts at a multiple of 16.
  func packed(_ range: Range<Int>) -> [UInt8]
}

extension Packable {
  var packed: [UInt8] { packed(0..<packedSize) }
}
