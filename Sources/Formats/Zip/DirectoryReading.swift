internal import Bytes
internal import Threads

/// An archive's central directory made a tree, or what can be made out without one.
struct DirectoryReading {
  private var tree: ZipTree
  /// Where the central directory starts; without one, all there is are entries.
  private var dataEnd: Int64
  private var fault: Fault?
  private var volumes = Volumes.one
  private var separators = FolderSeparators()

  /// All of it, given away: a tree that two hold is copied when one changes it.
  consuming func result() -> (tree: ZipTree, dataEnd: Int64, fault: Fault?, volumes: Volumes) {
    (tree, dataEnd, fault, volumes)
  }

  /// Throws when nothing of an archive can be read. Blocks.
  ///
  /// `charset` is of the names that do not say; when it is nil and there are such names, they are read again in the one that
  /// all of them together look like; and again where all of them part folders by backslashes.
  init(_ source: any ByteSource, modified: Timestamp, charset: String?, _ memory: MemoryShare) throws(Fault) {
    let names = NameDecoder(charset: charset)
    try self.init(source, modified: modified, names, memory)
    let known = charset ?? names.likeliestCharset
    guard separators.areBackslashes || charset == nil && known.map({ $0 != NameDecoder.usual }) ?? false else { return }
    let areBackslashes = separators.areBackslashes
    // The second tree takes the place of the first one.
    tree = ZipTree(rootModified: modified, CountedMemory(memory))
    try self.init(
      source, modified: modified, NameDecoder(charset: known, takingBackslashes: areBackslashes), memory)
  }

  private init(
    _ source: any ByteSource, modified: Timestamp, _ names: NameDecoder, _ memory: MemoryShare
  ) throws(Fault) {
    tree = ZipTree(rootModified: modified, CountedMemory(memory))
    dataEnd = source.size
    do throws(Fault) {
      let end = try EndOfCentralDirectory.find(in: source)
      dataEnd = end.directoryOffset
      volumes = end.volumes
      tree.expect(end.likelyCount, nameBytes: end.nameBytes)
      var directory = CentralDirectory(source, end, names)
      while let entry = try directory.next() {
        separators.note(entry)
        try tree.add(entry, prefix: end.prefix)
      }
    } catch {
      guard error.kind == .damaged else { throw error }
      fault = error
      if tree.nodes.count == 1 {
        // Nothing of a directory: what can be made out without one.
        dataEnd = source.size
        var scan = LocalHeaderScan(source, names)
        while let entry = try scan.next() { try tree.add(entry, prefix: 0) }
        guard tree.nodes.count > 1 else { throw error }
      }
    }
    try tree.finish()
  }
}
