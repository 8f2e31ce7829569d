internal import Bytes
internal import Cards
internal import Catalogue
internal import Codecs
internal import Entries
internal import Jobs
internal import Tar
internal import Threads
internal import Tree
internal import Unpacking
internal import Zip

/// The format of a file that contains a tree.
enum ArchiveFormat: Equatable {
  case zip
  case tar
  case packed(CompressedFormat)
  /// Calendars or cards.
  case cards
  /// A format that a worker lists.
  case listed

  /// The number of bytes at an archive's start that distinguish the other formats from ZIPs, which can start with
  /// anything.
  static let headSize = 512

  /// Detects the format by the first bytes, or by the name for a format without a signature. The default is ZIP.
  init(startingWith head: ArraySlice<UInt8>, named name: FileName) {
    if let packing = CompressedFormat(startingWith: head) {
      self = .packed(packing)
    } else if TarArchive.isStart(head) || name.fileExtension == "tar" && Self.isEmptyTar(head) {
      self = .tar
    } else if name.fileExtension == "br", !ZipArchive.isStart(head) {
      self = .packed(.brotli)
    } else if CardScanner.isStart(head) {
      self = .cards
    } else if ListedFormat.isStart(head) || ListedFormat.isNamed(name) && !ZipArchive.isStart(head) {
      self = .listed
    } else {
      self = .zip
    }
  }

  /// Returns whether a file with this start can be an archive without entries, which is empty or has only zeros.
  private static func isEmptyTar(_ head: ArraySlice<UInt8>) -> Bool { head.allSatisfy { $0 == 0 } }

  /// Returns whether a file has one of the formats. Blocks.
  static func isArchive(
    _ bytes: any ByteSource, named name: FileName, orListed: Bool, orDisk: Bool
  ) throws(Fault) -> Bool {
    let head = try bytes.head(headSize, .blocking)
    switch ArchiveFormat(startingWith: head, named: name) {
    case .tar, .packed, .cards: return true
    case .listed where orListed && (ListedFormat.isStart(head) || name.fileExtension == "mtree"): return true
    case .zip, .listed: break
    }
    if orListed, try ListedFormat.isDisc(bytes, .blocking) { return true }
    if try ZipArchive.isArchive(bytes) { return true }
    if orDisk, try ListedFormat.disk(bytes, .blocking) != nil { return true }
    switch try SelfExtracting.archive(in: bytes, startingWith: head)?.reader {
    case .library: return orListed
    case .disk, .deleted: return orDisk
    case nil: return false
    }
  }
}

extension Archives {
  /// Lists an archive. Blocks.
  func read(
    _ bytes: any ByteSource, of file: SourceState, _ memory: MemoryShare, _ blocking: BlockingMode
  ) throws(Fault) -> any OpenedArchive {
    if isOfDeleted { return try listedByWorker(bytes, file, memory, blocking, by: .deleted) }
    let name = file.source.name
    let head = try bytes.head(ArchiveFormat.headSize, blocking)
    let format = ArchiveFormat(startingWith: head, named: name)
    // The other formats show the entries before an early end.
    let bytes = if case .packed = format { bytes } else { bytes.available }
    switch format {
    case .listed:
      // libarchive neither decrypts nor starts at a block. 7-Zip's library reads fewer damaged archives.
      if readers[.disk] != nil, ListedFormat.isSevenZip(head) {
        do throws(Fault) { return try listedByWorker(bytes, file, memory, blocking, by: .disk) } catch {
          guard workers != nil, [.damaged, .unsupported].contains(error.kind) else { throw error }
        }
      }
      return try listedByWorker(
        bytes, file, memory, blocking, by: ListedFormat.isStart(head) ? .library : discReader(of: bytes, blocking))
    case .zip:
      // Reading the 17th sector is one more request to the file's source.
      if workers != nil, !ZipArchive.isStart(head), try ListedFormat.isDisc(bytes, blocking) {
        return try listedByWorker(bytes, file, memory, blocking, by: discReader(of: bytes, blocking))
      }
      if readers[.disk] != nil, !ZipArchive.isStart(head), try ListedFormat.disk(bytes, blocking) != nil {
        return try listedByWorker(bytes, file, memory, blocking, by: .disk)
      }
      if !readers.isEmpty, let found = try selfExtracted(bytes, startingWith: head, blocking),
        readers[found.reader] != nil
      {
        return try listedByWorker(bytes, file, memory, blocking, from: found.start, by: found.reader)
      }
      var options = options
      options.foreignDecoder = workers.map { foreignDecoder(by: $0, of: file) }
      do throws(Fault) {
        return try ZipArchive(
          bytes, modified: file.attributes.modified, cache: unpacking.decoded, options: options, memory: memory)
      } catch {
        // The name says what was expected.
        guard error.kind == .damaged, !ZipArchive.isStart(head) else { throw error }
        if let packing = name.fileExtension.flatMap({ CompressedFormat($0) }) {
          throw Fault(.damaged, "expected \(packing) data", atByte: 0)
        }
        guard name.fileExtension == "tar" else { throw error }
        throw Fault(.damaged, "expected the header of a TAR archive", atByte: 0)
      }
    case .cards:
      if blocking == .immediate { throw .later }
      return try CardArchive(
        bytes, modified: file.attributes.modified, permissions: file.attributes.permissions, memory: memory)
    case .tar:
      if blocking == .immediate { throw .later }
      if let known = try listed(bytes, memory) { return known }
      return try list(bytes, file, memory)
    case .packed(let packing):
      if blocking == .immediate { throw .later }
      let content = unpacking.content(of: bytes, packing)
      // Results in the index are known without decoding.
      try content.load()
      if content.hasKnownSize, let known = try listed(content, memory) { return known }
      let head = try content.unchecked.head(ArchiveFormat.headSize, .blocking)
      if TarArchive.isStart(head) { return try list(content, headers: content.unchecked, file, memory) }
      if let reader = try reader(of: content, startingWith: head, packing) {
        if readers[reader] != nil {
          try content.finishChecks()
          let archive = try listedByWorker(content, file, memory, blocking, by: reader)
          // Neither a cached list nor an archive without files causes a read that compares them.
          try content.finishAllChecks()
          return archive
        }
      }
      let attributes = PackedFile.FileAttributes(
        modified: file.attributes.modified, permissions: file.attributes.permissions)
      return try PackedFile(content, named: name, attributes)
    }
  }

  private func discReader(of bytes: any ByteSource, _ blocking: BlockingMode) throws(Fault) -> ArchiveReader {
    try ListedFormat.discReader(bytes, hasDiskReader: readers[.disk] != nil, blocking)
  }

  /// Returns the program that lists the content of a compressed file. Returns `nil` if the content is not an archive.
  /// Blocks.
  private func reader(
    of content: UnpackedSource, startingWith head: ArraySlice<UInt8>, _ packing: CompressedFormat
  ) throws(Fault) -> ArchiveReader? {
    if ListedFormat.isStart(head) { return ListedFormat.isInside(packing) ? .library : nil }
    if try ListedFormat.isDisc(content.unchecked, .blocking) {
      let reader = try discReader(of: content.unchecked, .blocking)
      return reader == .disk || ListedFormat.isInside(packing) ? reader : nil
    }
    guard readers[.disk] != nil, !ZipArchive.isStart(head) else { return nil }
    return try ListedFormat.disk(content.unchecked, .blocking) == nil ? nil : .disk
  }

  /// Returns the offset and reader of the archive in a program that is not a ZIP archive. Returns `nil` if there is none.
  private func selfExtracted(
    _ bytes: any ByteSource, startingWith head: ArraySlice<UInt8>, _ blocking: BlockingMode
  ) throws(Fault) -> (start: Int64, reader: ArchiveReader)? {
    guard SelfExtracting.isProgram(head) else { return nil }
    if blocking == .immediate { throw .later }
    return try ZipArchive.isArchive(bytes) ? nil : SelfExtracting.archive(in: bytes, startingWith: head)
  }

  /// Returns a decoder that has a worker decode entries.
  private func foreignDecoder(by workers: ConversionService, of file: SourceState) -> ForeignDecoder {
    { (entry, blocking) throws(Fault) in
      let state = StableHash(seed: file.revision).adding(UInt64(bitPattern: entry.place)).value
      let subject = ConversionService.Subject(
        revision: state, owner: file.source.item.soleOwner(file.attributes), path: { file.path },
        open: { (_) throws(Fault) in entry.data })
      let packed = PackedEntry(method: entry.method, size: entry.size, crc: entry.crc)
      return try workers.open(.decoded(packed), of: subject, blocking)
    }
  }

  /// Lists an archive in a compressed file. The file's checksums are ignored here and compared when entries are read.
  private func listedByWorker(
    _ content: UnpackedSource, _ file: SourceState, _ memory: MemoryShare, _ blocking: BlockingMode,
    by reader: ArchiveReader
  ) throws(Fault) -> ListedArchive {
    let (revision, owner) = (StableHash(seed: file.revision).adding(1), file.source.item.soleOwner(file.attributes))
    func subject(_ number: UInt64, _ bytes: any ByteSource) -> ConversionService.Subject {
      ConversionService.Subject(
        revision: revision.adding(number).value, owner: owner, path: { file.path },
        open: { (_) throws(Fault) in
          try bytes.verify()
          return bytes
        })
    }
    return try listedByWorker(
      content, listing: subject(0, content.unchecked), subject(1, content), file, memory, blocking, by: reader)
  }

  /// Lists an archive that begins at the offset `start` of the file.
  private func listedByWorker(
    _ bytes: any ByteSource, _ file: SourceState, _ memory: MemoryShare, _ blocking: BlockingMode,
    from start: Int64 = 0,
    by reader: ArchiveReader = .library
  ) throws(Fault) -> ListedArchive {
    let subject = ConversionService.Subject(
      revision: file.revision, owner: file.source.item.soleOwner(file.attributes), path: { file.path },
      open: { (blocking) throws(Fault) in Self.rest(of: try file.open(blocking), from: start) })
    return try listedByWorker(
      Self.rest(of: bytes, from: start), listing: subject, subject, file, memory, blocking, by: reader)
  }

  private func listedByWorker(
    _ bytes: any ByteSource, listing: ConversionService.Subject, _ subject: ConversionService.Subject,
    _ file: SourceState, _ memory: MemoryShare, _ blocking: BlockingMode, by reader: ArchiveReader
  ) throws(Fault) -> ListedArchive {
    guard let workers = readers[reader] else {
      throw Fault(.unsupported, "is of a format that needs the program \(reader.program)")
    }
    let list: any ByteSource
    do throws(Fault) { list = try workers.open(.entries(by: reader), of: listing, blocking) } catch {
      guard error.kind == .locked, reader == .disk else { throw error }
      list = try workers.open(.outline, of: listing, blocking)
    }
    return try ListedArchive(
      list, of: bytes, named: file.source.name, subject, workers, by: reader, modified: file.attributes.modified,
      showingAllLinks: options.showsAllLinks,
      memory: memory)
  }

  private static func rest(of bytes: any ByteSource, from start: Int64) -> any ByteSource {
    let bytes = bytes.available
    return start == 0 ? bytes : ByteRange(of: bytes, start: start, size: bytes.size - start)
  }

  /// The stored lists of archives whose headers take longer to read than the list.
  private var lists: IndexedParts? {
    unpacking.index.map {
      IndexedParts(
        index: $0, version: Self.listVersion << 32 | TarArchive.imageVersion << 1 | (options.showsAllLinks ? 1 : 0))
    }
  }

  /// Returns the archive from its stored list. Returns `nil` if there is none.
  private func listed(_ bytes: any ByteSource, _ memory: MemoryShare) throws(Fault) -> TarArchive? {
    guard let lists, let identity = bytes.identity else { return nil }
    return try TarArchive(bytes, memory: memory) { lists.part($0, of: identity) }
  }

  private func list(
    _ bytes: any ByteSource, headers: (any ByteSource)? = nil, _ file: SourceState, _ memory: MemoryShare
  ) throws(Fault) -> TarArchive {
    let archive = try TarArchive(
      bytes, headers: headers, modified: file.attributes.modified, showingAllLinks: options.showsAllLinks,
      memory: memory)
    if let content = bytes as? UnpackedSource {
      try content.finishChecks()
      // A decoder that has lost its position can take the rest of the file for data.
      if !archive.endsEarly { content.distrustEnd() }
    }
    if let lists, let identity = bytes.identity, bytes.size >= Self.storedSize {
      lists.store(of: identity) { archive.image(part: $0) }
    }
    return archive
  }

  /// The version of stored lists. Version 0 was created without comparing checksums with the content. Version 1
  /// lacks entries behind foreign bytes in a compressed file.
  private static let listVersion: UInt64 = 2
  /// The minimum size of an archive whose list is stored, in bytes.
  private static let storedSize: Int64 = 1 << 20
}
