internal import Bytes
internal import Codecs
internal import Tree

/// A compressed file as what is in it: for views of that. It is not in the tree itself.
final class PackedItem: Item {
  private let source: Source
  private let packing: Packing
  private let unpacking: Unpacking
  /// Its size is an estimate.
  let described: Attributes
  var inode: UInt64 { source.item.inode }
  var kind: Kind { .file }
  // It represents the state that it was made from; `checkCurrent` compares.
  var isImmutable: Bool { true }

  init(_ source: Source, _ packing: Packing, _ unpacking: Unpacking) {
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
  func attributes(_ patience: Patience) throws(Fault) -> Attributes { described }
  var sourceState: UInt64 { source.item.sourceState }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    unpacking.content(of: try source.open(patience), packing)
  }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try source.item.checkCurrent(isDoubted: isDoubted, patience)
    // An immutable item is unchanged.
    if source.item.isImmutable { return }
    let attributes: Attributes
    do throws(Fault) { attributes = try source.item.attributes(patience) } catch {
      if error.isDelay { throw error }
      // Gone, or replaced by another file.
      throw .stale
    }
    guard source.now(attributes).revision == source.revision else { throw .stale }
  }
}
