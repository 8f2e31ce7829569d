internal import Bytes
internal import Codecs
internal import Tree

/// The content of a compressed file, for views of that content. The item is not in the tree itself.
final class PackedItem: Item {
  private let source: Source
  private let packing: CompressedFormat
  private let unpacking: Unpacking
  /// The attributes, with an estimated size.
  let described: Attributes
  var inode: UInt64 { source.item.inode }
  var kind: Kind { .file }
  // The item represents the state that it was created from, which `checkCurrent` compares.
  var isImmutable: Bool { true }

  init(_ source: Source, _ packing: CompressedFormat, _ unpacking: Unpacking) {
    self.source = source
    self.packing = packing
    self.unpacking = unpacking
    described = source.attributes
  }

  func revision(_ attributes: Attributes) -> UInt64 {
    StableHash(seed: source.revision).adding(UInt64(packing.rawValue)).value
  }

  func accessList() throws(Fault) -> AccessList? { try source.item.accessList() }
  func soleOwner(_ attributes: Attributes) -> UInt32? { source.item.soleOwner(source.attributes) }
  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }
  var sourceState: UInt64 { source.item.sourceState }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    unpacking.content(of: try source.open(blocking), packing)
  }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard let now = try source.now(isDoubted: isDoubted, blocking) else { return }
    guard now.revision == source.revision else { throw .stale }
  }
}
