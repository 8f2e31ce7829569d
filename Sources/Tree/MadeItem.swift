internal import Bytes

/// An item that a view makes of a file, in one state of that.
///
/// The next state gives other items; those that show the same under the same name are the same things, and take the place of
/// the earlier ones (`Node`).
protocol MadeItem: Item {
  var file: SourceState { get }
  /// Tells what the item shows from all else that could have its name.
  var identity: UInt64 { get }
}

extension MadeItem {
  var isImmutable: Bool { true }
  var content: UInt64? { identity }
  var sourceState: UInt64 { file.state }

  func revision(_ attributes: Attributes) -> UInt64 { StableHash(seed: inode).adding(identity).value }

  func accessList() throws(Fault) -> AccessList? { try file.accessList(kind) }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try file.checkCurrent(isDoubted: isDoubted, patience)
  }
}
