internal import Bytes
internal import Codecs
internal import Entries
internal import Tar
internal import Threads
internal import Tree
internal import Unpacking
internal import Zip

/// What a file is that has a tree inside.
enum ArchiveFormat: Equatable {
  case zip
  case tar
  case packed(Packing)

  /// Of an archive's first bytes, enough to tell the others from ZIPs, which may start with anything.
  static let headSize = 512

  /// By the first bytes, and for what has no mark by the name; a ZIP if nothing else fits.
  init(startingWith head: ArraySlice<UInt8>, named name: FileName) {
    if let packing = Packing(startingWith: head) {
      self = .packed(packing)
    } else if TarArchive.isStart(head) || name.fileExtension == "tar" && Self.isEmptyTar(head) {
      self = .tar
    } else if name.fileExtension == "br", !ZipArchive.isStart(head) {
      self = .packed(.brotli)
    } else {
      self = .zip
    }
  }

  /// An archive without entries is zeros, or nothing.
  private static func isEmptyTar(_ head: ArraySlice<UInt8>) -> Bool { head.allSatisfy { $0 == 0 } }

  /// Whether a file is of any format. Blocks.
  static func isArchive(_ bytes: any ByteSource, named name: FileName) throws(Fault) -> Bool {
    let head = try bytes.head(headSize, .blocking)
    if ArchiveFormat(startingWith: head, named: name) != .zip { return true }
    return try ZipArchive.isArchive(bytes)
  }
}

extension Archives {
  /// Lists an archive. Blocks.
  func read(
    _ bytes: any ByteSource, of file: SourceState, _ memory: MemoryShare, _ patience: Patience
  ) throws(Fault) -> any OpenedArchive {
    let name = file.source.name
    switch ArchiveFormat(startingWith: try bytes.head(ArchiveFormat.headSize, patience), named: name) {
    case .zip:
      return try ZipArchive(
        bytes, modified: file.attributes.modified, cache: unpacking.decoded, options: options, memory: memory)
    case .tar:
      if patience == .immediate { throw .later }
      if let known = try listed(bytes, memory) { return known }
      return try list(bytes, file, memory)
    case .packed(let packing):
      if patience == .immediate { throw .later }
      let content = unpacking.content(of: bytes, packing)
      // What is in the index need not be decoded to be known.
      if let known = try listed(content, memory) { return known }
      if TarArchive.isStart(try content.head(ArchiveFormat.headSize, .blocking)) {
        return try list(content, file, memory)
      }
      let attributes = PackedFile.FileAttributes(
        modified: file.attributes.modified, permissions: file.attributes.permissions)
      return try PackedFile(content, named: name, attributes)
    }
  }

  /// Lists of archives of which reading all headers takes longer than reading it back.
  private var lists: IndexedParts? {
    unpacking.index.map {
      IndexedParts(index: $0, version: TarArchive.imageVersion << 1 | (options.showsAllLinks ? 1 : 0))
    }
  }

  /// The archive as it was listed before; nil if it was not.
  private func listed(_ bytes: any ByteSource, _ memory: MemoryShare) throws(Fault) -> TarArchive? {
    guard let lists, let identity = bytes.identity else { return nil }
    return try TarArchive(bytes, memory: memory) { lists.part($0, of: identity) }
  }

  private func list(_ bytes: any ByteSource, _ file: SourceState, _ memory: MemoryShare) throws(Fault) -> TarArchive {
    let archive = try TarArchive(
      bytes, modified: file.attributes.modified, showingAllLinks: options.showsAllLinks, memory: memory)
    if let lists, let identity = bytes.identity, bytes.size >= Self.storedSize {
      lists.store(of: identity) { archive.image(part: $0) }
    }
    return archive
  }

  /// In bytes.
  private static let storedSize: Int64 = 1 << 20
}
