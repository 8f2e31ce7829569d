internal import Bytes

/// An archive's central directory made a tree, or what can be made out without one.
struct DirectoryReading {
  private(set) var tree: ZipTree
  /// The symbolic links, by node.
  private(set) var links: [UInt32] = []
  /// Where the central directory starts; without one, all there is are entries.
  private(set) var dataEnd: Int64
  private(set) var fault: Fault?
  /// How many files the archive is split into, as it says.
  private(set) var parts = 1
  private var separators = FolderSeparators()

  /// Throws when nothing of an archive can be read. Blocks.
  ///
  /// `charset` is of the names that do not say; when it is nil and there are such names, they are read again in the one that
  /// all of them together look like; and again where all of them part folders by backslashes.
  init(_ source: any ByteSource, modified: Timestamp, charset: String?) throws(Fault) {
    let names = NameDecoder(charset: charset)
    try self.init(source, modified: modified, names)
    let known = charset ?? names.likeliestCharset
    guard separators.areBackslashes || charset == nil && known.map({ $0 != NameDecoder.usual }) ?? false else { return }
    let areBackslashes = separators.areBackslashes
    try self.init(
      source, modified: modified, NameDecoder(charset: known, takingBackslashes: areBackslashes))
  }

  private init(_ source: any ByteSource, modified: Timestamp, _ names: NameDecoder) throws(Fault) {
    tree = ZipTree(rootModified: modified)
    dataEnd = source.size
    do throws(Fault) {
      let end = try EndOfCentralDirectory.find(in: source)
      dataEnd = end.directoryOffset
      parts = end.parts
      var directory = CentralDirectory(source, end, names)
      while let entry = try directory.next() {
        separators.note(entry)
        try tree.add(entry, prefix: end.prefix, &links)
      }
    } catch {
      guard error.kind == .damaged || error.kind == .limit else { throw error }
      fault = error
      if tree.nodes.count == 1 {
        // Nothing of a directory: what can be made out without one.
        dataEnd = source.size
        var scan = LocalHeaderScan(source, names)
        while let entry = try scan.next() { try tree.add(entry, prefix: 0, &links) }
        guard tree.nodes.count > 1 else { throw error }
      }
    }
    try tree.finish()
  }
}
