internal import Bytes
internal import Codecs
internal import Entries
internal import Threads
internal import Unpacking

/// A compressed file that is not an archive, as a directory with its content.
final class PackedFile: OpenedArchive {
  private let content: UnpackedSource
  let entries: EntryTree
  private let memory: MemoryShare

  private static let file: UInt32 = 1

  /// Creates the directory. `name` is the name of the compressed file.
  init(_ content: UnpackedSource, named name: FileName, _ attributes: FileAttributes) throws(Fault) {
    self.content = content
    memory = MemoryShare(in: MemoryBudget())
    var entries = EntryTree(rootModified: attributes.modified, CountedMemory(memory))
    let node = EntryNode(
      kind: .file, modified: attributes.modified, permissions: attributes.permissions & 0o666, size: 0)
    try entries.add(node, path: ArraySlice(SafeInnerName.name(of: name)))
    try entries.finish()
    entries.settle(details: 0)
    self.entries = entries
  }

  /// The attributes that the content inherits from the compressed file.
  struct FileAttributes {
    var modified: Timestamp
    var permissions: UInt16
  }

  /// The damage, or the early end. Content that `-o damaged=show` shows is unverified instead.
  var fault: Fault? { (content.showsDamage ? nil : content.damage) ?? content.fault }

  func assurance(of index: UInt32) -> Assurance? { index == Self.file ? content.assurance : Assurance.none }

  func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try content.findSize(blocking)
    guard let fault = content.fault else { return content }
    return EarlyEnd(content, fault)
  }

  func fault(of index: UInt32, _ blocking: BlockingMode) throws(Fault) -> Fault? {
    index == Self.file ? fault : nil
  }

  /// Returns the size of the content. Programs that read as many bytes as the size says must notice an early end.
  func size(of index: UInt32) -> (size: Int64, isExact: Bool)? {
    guard index == Self.file else { return nil }
    if content.hasKnownSize, let fault = content.fault { return (EarlyEnd(content, fault).size, true) }
    return (content.size, content.hasKnownSize)
  }

  func findSize(of index: UInt32, _ blocking: BlockingMode) throws(Fault) { try content.findSize(blocking) }
}

private enum SafeInnerName {
  /// Returns the content's name, a path component that is never empty.
  static func name(of file: FileName) -> [UInt8] {
    let inner = Array(CompressedFormat.innerName(of: file).bytes)
    return inner.isEmpty ? [0x3f] : inner
  }
}
