internal import Bytes
internal import Entries
internal import Threads

/// The reading of an archive's central directory into a tree. Without a directory, entries are recovered from local
/// headers.
struct DirectoryReading {
  private var tree: ZipTree
  /// The offset of the central directory, or the end of the source if the directory is missing.
  private var dataEnd: Int64
  /// The number of bytes before the archive.
  private var prefix: Int64 = 0
  private var fault: Fault?
  private var volumes = Volumes.one
  private var separators = FolderSeparators()

  /// Returns the results by moving them, because a tree with two owners would be copied on change.
  consuming func result() -> (tree: ZipTree, dataEnd: Int64, prefix: Int64, fault: Fault?, volumes: Volumes) {
    (tree, dataEnd, prefix, fault, volumes)
  }

  /// Reads an archive. Throws if no part of it can be read. Blocks.
  ///
  /// `charset` applies to names that declare none. If it is nil and such names exist, the directory is read again in
  /// their likeliest character set. It is also read again if all names use backslashes as separators.
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
      var count: UInt64 = 0
      while let entry = try directory.next() {
        separators.note(entry)
        try tree.add(entry, prefix: end.prefix)
        count += 1
      }
      // A damaged header can swallow those after it.
      guard count >= end.entryCount else {
        let expected = "expected \(end.entryCount) entries in the central directory, found \(count)"
        throw Fault(.damaged, expected, atByte: end.recordsOffset)
      }
    } catch {
      guard error.kind == .damaged else { throw error }
      fault = error
      if tree.nodes.count == 1 {
        // The directory cannot be read: entries are recovered from local headers.
        (dataEnd, prefix) = (source.size, 0)
        var scan = LocalHeaderScan(source, names)
        while let entry = try scan.next() { try tree.add(entry, prefix: 0) }
        guard tree.nodes.count > 1 else { throw error }
      }
    }
    try tree.finish()
  }
}
