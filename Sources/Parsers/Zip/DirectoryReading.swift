internal import Bytes
internal import Entries
internal import Threads

/// Reads an archive's central directory into a tree, or recovers entries without one.
struct DirectoryReading {
  private var tree: ZipTree
  /// The start of the central directory; the end of the source if there is none.
  private var dataEnd: Int64
  /// The number of bytes before the archive.
  private var prefix: Int64 = 0
  private var fault: Fault?
  private var volumes = Volumes.one
  private var separators = FolderSeparators()

  /// The results, moved out: a tree with two owners would be copied on change.
  consuming func result() -> (tree: ZipTree, dataEnd: Int64, prefix: Int64, fault: Fault?, volumes: Volumes) {
    (tree, dataEnd, prefix, fault, volumes)
  }

  /// Throws when nothing of an archive can be read. Blocks.
  ///
  /// `charset` is that of names without a declared one; if it is nil and there are such names, they are read again in
  /// the likeliest set of them all; also if all names use backslashes as folder separators.
  init(_ source: any ByteSource, modified: Timestamp, charset: String?, _ memory: MemoryShare) throws(Fault) {
    let names = NameDecoder(charset: charset)
    let source = try TailWindow(source)
    try self.init(source, modified: modified, names, memory)
    let known = charset ?? names.likeliestCharset
    guard separators.areBackslashes || charset == nil && known.map({ $0 != NameDecoder.usual }) ?? false else { return }
    let areBackslashes = separators.areBackslashes
    // The second tree replaces the first one.
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
      prefix = end.prefix
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
        // No directory could be read: entries are recovered from local headers.
        (dataEnd, prefix) = (source.size, 0)
        var scan = LocalHeaderScan(source, names)
        while let entry = try scan.next() { try tree.add(entry, prefix: 0) }
        guard tree.nodes.count > 1 else { throw error }
      }
    }
    try tree.finish()
  }
}
