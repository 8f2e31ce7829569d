package import Bytes

/// An item that a view makes of a file, in one state of that.
///
/// The next state gives other items; those that show the same under the same name are the same things, and take the place of
/// the earlier ones (`Node`).
package protocol MadeItem: Item {
  var file: SourceState { get }
  /// Tells what the item shows from all else that could have its name.
  var identity: UInt64 { get }
}

extension MadeItem {
  package var isImmutable: Bool { true }
  package var content: UInt64? { identity }
  package var sourceState: UInt64 { file.state }

  package func revision(_ attributes: Attributes) -> UInt64 { StableHash(seed: inode).adding(identity).value }

  package func accessList() throws(Fault) -> AccessList? { try file.accessList(kind) }

  package func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try file.checkCurrent(isDoubted: isDoubted, patience)
  }
}
