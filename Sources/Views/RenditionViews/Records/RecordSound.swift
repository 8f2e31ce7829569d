internal import Bytes
internal import Tree

/// A sound file that is divided by a sheet beside it. Reading it requires permission to read both.
final class RecordSound: Item {
  private let sheet: SourceState
  private let file: FileGroup.Member
  private let described: Attributes

  let inode: UInt64
  var name: FileName { file.name }
  var kind: Kind { .file }
  // The item represents the state in which it was looked up, which `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// - Parameter isFound: Whether the directory was listed to find the file.
  init(_ file: FileGroup.Member, _ sheet: SourceState, isFound: Bool) throws(Fault) {
    self.file = file
    self.sheet = sheet
    inode = StableHash(seed: file.item.inode).adding(sheet.source.item.inode).value
    let source = sheet.source
    var rights = CommonRights(source.attributes, try source.item.accessList(), wanted: 4)
    if isFound {
      let folder = source.folder.item
      rights.narrow(to: CommonRights(try folder.attributes(.blocking), try folder.accessList(), wanted: 5))
    }
    described = try FileGroup([file]).narrowing(rights).applied(
      to: file.attributes.view(inode: inode, kind: .file, size: file.attributes.size))
  }

  func revision(_ attributes: Attributes) -> UInt64 { file.item.revision(file.attributes) }
  /// Returns `nil`: the mode already reflects all access lists.
  func accessList() throws(Fault) -> AccessList? { nil }

  func soleOwner(_ attributes: Attributes) -> UInt32? {
    let owner = file.item.soleOwner(file.attributes)
    return owner == sheet.source.item.soleOwner(sheet.attributes) ? owner : nil
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }
  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { try file.open(blocking) }

  var sourceState: UInt64 { StableHash(seed: file.item.sourceState).adding(sheet.state).value }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try sheet.checkCurrent(isDoubted: isDoubted, blocking)
    try file.item.checkCurrent(isDoubted: isDoubted, blocking)
    if file.item.isImmutable { return }
    let now = try FileGroup.member(named: file.name, in: sheet.source.folder.item, blocking)
    guard let now, now.item.revision(now.attributes) == revision(described) else { throw .stale }
  }
}
