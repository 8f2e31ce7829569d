internal import Bytes
internal import Files
internal import Index
internal import Tree

/// The comparison of the real files with an index.
extension FolderCrawl {
  /// A file to read.
  struct File: Sendable {
    let path: [UInt8]
    let state: DocumentSource.State
    let isFolder: Bool
    /// The part of the index to which it belongs.
    let part: DocumentParts.Part
    /// Whether the index has the source in an earlier state.
    let isKnown: Bool
  }

  /// The result of a scan.
  struct Scan {
    /// The first files to read, at most `batch`.
    var changed: [File] = []
    /// The number and size of all files to read.
    var files = 0
    var bytes: Int64 = 0
    var unchanged = 0
    /// The number of directories whose names cannot be read.
    var unreadable = 0
    var hasMore = false
  }

  /// Returns the sources in the index, by the number of their part. O(n).
  func knownSources() throws(Fault) -> [Int: KnownSources] {
    var all: [Int: KnownSources] = [:]
    for part in index.parts {
      var sources = KnownSources()
      sources.reserve(part.index.sourceCounts()?.all ?? 0)
      guard part.index.forEachSource({ sources.add($0, programs) }) else { throw .noDocumentIndex }
      all[part.number] = sources
    }
    return all
  }

  /// Compares the real files of the parts of the index with it. O(n).
  func scan(_ sources: inout [Int: KnownSources]) throws(Fault) -> Scan {
    guard let root = folder.realFolder else { throw Fault(.unsupported, "it is not a real folder") }
    var scan = Scan()
    if let file {
      if let found = try root.child(named: file, .blocking), found.attributes.kind == .file {
        note(Array(file.bytes), .init(found.attributes), isFolder: false, &sources, &scan)
      }
      return scan
    }
    note([], .init(folder: try root.attributes(.blocking)), isFolder: true, &sources, &scan)
    var folders: [(folder: RealFolder, path: [UInt8])] = [(root, [])]
    while let (folder, path) = folders.popLast() {
      guard let listing = try unlessDelayed({ () throws(Fault) in try folder.listing(.blocking) }) else {
        scan.unreadable += 1
        continue
      }
      let isInView = try folder.isView("", folder.inode)
      var place: Int64 = 0
      while let entries = try unlessDelayed({ () throws(Fault) in try listing.entries(after: place, .blocking) }),
        let last = entries.last
      {
        place = last.next
        try check()
        for entry in entries where entry.kind == .file || entry.kind == .folder {
          let name = entry.name.bytes
          let inner = path + Array(name)
          if entry.kind == .folder {
            if Self.isSkipped(inner) { continue }
            guard
              let found = try unlessDelayed({ () throws(Fault) in
                try folder.child(named: entry.name.fileName, .blocking)
              }) ?? nil, let next = found.item as? RealFolder
            else { continue }
            if !isInView, try folder.isView(entry.name.fileName, found.attributes.inode) { continue }
            folders.append((next, inner + [Self.slash]))
            note(inner + [Self.slash], .init(folder: found.attributes), isFolder: true, &sources, &scan)
          } else {
            guard index.part(of: inner) != nil,
              let attributes = try unlessDelayed({ () throws(Fault) in
                try folder.attributes(of: entry.name, .blocking)
              }) ?? nil
            else { continue }
            if !isInView, try folder.isView(entry.name.fileName, attributes.inode) { continue }
            note(inner, .init(attributes), isFolder: false, &sources, &scan)
          }
        }
      }
    }
    return scan
  }

  /// Returns whether neither a folder nor a file that contains other documents has changed. Other files are not
  /// examined.
  private func isCurrentInOutline() throws(Fault) -> Bool {
    guard let root = folder.realFolder else { return false }
    var leading: [DocumentSource] = []
    for part in index.parts {
      guard part.index.forEachSource(isLeadingOnly: true, { leading.append($0) }) else { throw .noDocumentIndex }
    }
    for source in leading {
      try check()
      let name = source.path.last == Self.slash ? source.path.dropLast() : source.path[...]
      let attributes = try unlessDelayed { () throws(Fault) in
        name.isEmpty
          ? try root.attributes(.blocking) : try root.attributes(of: ListedName(FileName(name)), .blocking)
      }
      guard let attributes = attributes ?? nil else { return false }
      let state =
        source.kind == .folder ? DocumentSource.State(folder: attributes) : DocumentSource.State(attributes)
      if state != source.state { return false }
    }
    return true
  }

  /// Returns the number of sources in a large complete index whose outline is current. Returns `nil` for another index.
  func sourcesIfCurrentInOutline() throws(Fault) -> Int? {
    var all = 0
    for part in index.parts {
      guard let sources = part.index.sourceCounts(programs: programs.identity), sources.open == 0 else { return nil }
      all += sources.all
    }
    guard all > Self.fewSources else { return nil }
    return try isCurrentInOutline() ? all : nil
  }

  /// The number of sources up to which all of them are examined before each search.
  private static let fewSources = 20_000

  private func note(
    _ path: [UInt8], _ state: DocumentSource.State, isFolder: Bool, _ sources: inout [Int: KnownSources],
    _ scan: inout Scan
  ) {
    guard let part = index.part(of: path), let (isCurrent, isKnown) = sources[part.number]?.see(path, state) else {
      return
    }
    if isCurrent {
      scan.unchanged += 1
      return
    }
    scan.files += isFolder ? 0 : 1
    scan.bytes = Bounds.sum(scan.bytes, isFolder ? 0 : state.size)
    guard scan.changed.count < batch else {
      scan.hasMore = true
      return
    }
    sources[part.number]?.take(path, state)
    scan.changed.append(File(path: path, state: state, isFolder: isFolder, part: part, isKnown: isKnown))
  }

  static let slash = UInt8(ascii: "/")

  /// Returns whether a folder has only data of this program.
  private static func isSkipped(_ path: [UInt8]) -> Bool {
    path.suffix(14) == Array(".cache/ffmount".utf8)[...]
  }
}
