internal import Bytes
internal import Files
internal import Mail

/// `NAME.views/search/`: a folder by the name of any query; it lists the last ones.
final class SearchFolder: ViewFolder {
  let sorted: SortedMailbox
  let place = ViewPlace.of(0x73, [])
  var isImmutable: Bool { false }

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    // Programs look for their own files everywhere; and what is listed is a name that all of them can take.
    if name.bytes.first == 0x2e || name.count > 255 || Self.isProbe(name) { return nil }
    let folder = QueryFolder(sorted, name)
    return Found(folder, try folder.attributes(patience))
  }

  /// Whether file managers look for the name in every folder.
  private static func isProbe(_ name: FileName) -> Bool {
    let probes: Set<String> = [
      "desktop.ini", "autorun.inf", "thumbs.db", "ehthumbs.db", "folder.jpg", "folder.gif", "folder.png", "cover.jpg",
      "cover.png", "albumart.jpg", "albumartsmall.jpg", "$recycle.bin", "system volume information", "lost+found",
    ]
    return probes.contains(name.text.lowercased())
  }

  func listing(_ patience: Patience) throws(Fault) -> any Listing {
    ShortListing(sorted.search.latest.map { ($0, QueryFolder(sorted, $0).inode, .folder) })
  }
}

/// `NAME.views/search/QUERY/`: the messages for which a query holds, newest first.
final class QueryFolder: ViewFolder {
  let sorted: SortedMailbox
  private let query: FileName
  let place: UInt64
  /// Words may still be missing.
  var isImmutable: Bool { false }

  init(_ sorted: SortedMailbox, _ query: FileName) {
    self.sorted = sorted
    self.query = query
    place = ViewPlace.of(0x73, query.bytes)
  }

  /// nil for a query that is none.
  private func results(_ patience: Patience) throws(Fault) -> SearchResults? {
    guard case .success(let results) = try sorted.search.results(query, patience) else { return nil }
    return results
  }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    guard let number = MessageRow.position(inFolderName: name), number > 0,
      try results(patience)?.contains(number - 1) ?? false
    else { return nil }
    return try messageFolder(at: number - 1, named: name, patience)
  }

  func listing(_ patience: Patience) throws(Fault) -> any Listing {
    let results = try results(patience)
    if results != nil { sorted.search.note(query) }
    return ResultListing(self, results?.positions ?? [])
  }

  // MARK: What is said of it

  private static let resultsName: FileName = "user.ffmount.results"
  private static let searchedName: FileName = "user.ffmount.searched"

  func extendedAttribute(_ name: FileName, _ patience: Patience) throws(Fault) -> [UInt8] {
    guard name == Self.resultsName || name == Self.searchedName, let results = try results(patience) else {
      throw .noAttribute
    }
    if name == Self.resultsName { return Array(String(results.count).utf8) }
    guard let searched = results.searched else { throw .noAttribute }
    return Array("\(searched.count) of \(searched.of) messages".utf8)
  }

  func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8] {
    guard let results = try results(patience) else { return [] }
    let names = [Self.resultsName] + (results.searched == nil ? [] : [Self.searchedName])
    return names.flatMap { Array($0.bytes) + [0] }
  }

  func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    var provenance = sorted.file.provenance(view: SortedMailbox.view, sorted.mailbox.fault)
    do throws(Fault) {
      switch try sorted.search.results(query, patience) {
      case .success(let results): if results.searched != nil { provenance.state = .estimate }
      case .failure(let mistake):
        provenance.state = .failed
        provenance.error = "'\(query.text)': \(mistake.reason)"
      }
    } catch {
      guard error.concernsContent else { throw error }
      provenance = sorted.file.provenance(view: SortedMailbox.view, error)
    }
    return provenance
  }

  private final class ResultListing: Listing {
    private let folder: QueryFolder
    private let positions: [UInt32]

    private static let blockSize = 256

    init(_ folder: QueryFolder, _ positions: [UInt32]) {
      self.folder = folder
      self.positions = positions
    }

    func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < positions.count else { return [] }
      return try folder.entries(of: positions[Int(place)...].prefix(Self.blockSize), next: place + 1, patience)
    }
  }
}
