package import Bytes

/// An item that a view derives from a file, in one state of that file.
///
/// Another state yields other items. An item with the same content under the same name replaces the earlier one in its
/// `Node`.
package protocol DerivedItem: Item {
  var file: SourceState { get }
  /// The identifier of the item's content. Distinguishes it from any other content of the same name.
  var identity: UInt64 { get }
}

extension DerivedItem {
  package var isImmutable: Bool { true }
  package var content: UInt64? { identity }
  package var sourceState: UInt64 { file.state }

  package func revision(_ attributes: Attributes) -> UInt64 { StableHash(seed: inode).adding(identity).value }

  package func accessList() throws(Fault) -> AccessList? { try file.accessList(kind) }

  package func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try file.checkCurrent(isDoubted: isDoubted, blocking)
  }
}
