internal import Bytes
internal import Files
internal import Mail
internal import Queries
internal import Tree

/// `NAME.views/search/`: has a directory for every query, and lists the latest ones.
final class SearchFolder: MailViewDirectory {
  let sorted: SortedMailbox
  let place = ViewPlace.of(0x73, [])
  var isImmutable: Bool { false }

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    // Programs look up hidden names everywhere. Every listed name must be a valid file name.
    if name.bytes.first == 0x2e || name.count > 255 || Self.isProbe(name) { return nil }
    let folder = QueryFolder(sorted, name)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns whether file managers look up the name in every directory.
  private static func isProbe(_ name: FileName) -> Bool {
    let probes: Set<String> = [
      "desktop.ini", "autorun.inf", "thumbs.db", "ehthumbs.db", "folder.jpg", "folder.gif", "folder.png", "cover.jpg",
      "cover.png", "albumart.jpg", "albumartsmall.jpg", "$recycle.bin", "system volume information", "lost+found",
    ]
    return probes.contains(name.text.lowercased())
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    IndexedCursor(sorted.search.latest.map { ($0, QueryFolder(sorted, $0).inode, .folder) })
  }
}

/// `NAME.views/search/QUERY/`: the messages that match a query, newest first, after a notice if some may be missing.
final class QueryFolder: MailViewDirectory {
  let sorted: SortedMailbox
  private let query: FileName
  let place: UInt64
  /// Messages may still be added as words are indexed.
  var isImmutable: Bool { false }

  init(_ sorted: SortedMailbox, _ query: FileName) {
    self.sorted = sorted
    self.query = query
    place = ViewPlace.of(0x73, query.bytes)
  }

  /// Returns the results. Returns `nil` if the query is invalid.
  private func results(
    part: MailboxSearch.Part = .untilDone, _ blocking: BlockingMode
  ) throws(Fault) -> SearchResults? {
    guard case .success(let results) = try sorted.search.results(query, part: part, blocking) else { return nil }
    return results
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    if let percent = SearchNotice.percent(in: name) {
      // Exists while the last result is partial.
      guard sorted.search.part(query) != nil else { return nil }
      let notice = SearchNotice(of: sorted, place, percent: percent)
      return LookupResult(notice, try notice.attributes(blocking))
    }
    guard let number = MessageRow.position(inFolderName: name),
      let position = try sorted.mailbox.position(ofSerial: number, blocking)
    else { return nil }
    // A message that matched still matches.
    if sorted.search.part(query)?.contains(position) != true {
      guard try results(part: .justNow, blocking)?.contains(position) ?? false else { return nil }
    }
    return try messageFolder(at: position, named: name, blocking)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    let results = try results(part: .never, blocking)
    if results != nil { sorted.search.note(query) }
    let notice = results?.percentSearched.map { SearchNotice(of: sorted, place, percent: $0) }
    return ResultListing(self, results?.positions ?? [], notice)
  }

  // MARK: Extended attributes

  private static let resultsName: FileName = "user.ffmount.results"
  private static let searchedName: FileName = "user.ffmount.searched"

  func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard name == Self.resultsName || name == Self.searchedName, let results = try results(blocking) else {
      throw .noAttribute
    }
    if name == Self.resultsName { return Array(String(results.count).utf8) }
    guard let searched = results.searched else { throw .noAttribute }
    return Array("\(searched.count) of \(searched.of) messages".utf8)
  }

  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard let results = try results(blocking) else { return [] }
    let names = [Self.resultsName] + (results.searched == nil ? [] : [Self.searchedName])
    return names.flatMap { Array($0.bytes) + [0] }
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var provenance = sorted.file.provenance(view: SortedMailbox.view, sorted.mailbox.fault)
    do throws(Fault) {
      switch try sorted.search.results(query, part: .untilDone, blocking) {
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

  /// A listing of the notice, if there is one, at offset 0, followed by the results.
  private final class ResultListing: DirectoryCursor {
    private let folder: QueryFolder
    private let positions: [UInt32]
    private let notice: SearchNotice?

    private static let blockSize = 256

    init(_ folder: QueryFolder, _ positions: [UInt32], _ notice: SearchNotice?) {
      self.folder = folder
      self.positions = positions
      self.notice = notice
    }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      if place == 0, let notice {
        return [ListedEntry(name: ListedName(notice.name), inode: notice.inode, kind: .file, next: 1)]
      }
      let first = place - (notice == nil ? 0 : 1)
      guard first >= 0 else { return [] }
      guard first < positions.count else {
        try folder.sorted.mailbox.checkEnd()
        return []
      }
      return try folder.entries(of: positions[Int(first)...].prefix(Self.blockSize), next: place + 1, blocking)
    }
  }
}

extension SearchNotice {
  /// `place` identifies the query's directory.
  fileprivate convenience init(of sorted: SortedMailbox, _ place: UInt64, percent: Int) {
    self.init(
      Subject(things: "messages", argument: "ARCHIVE"), percent: percent, of: sorted.file, view: SortedMailbox.view,
      // Messages have even numbers.
      inode: sorted.file.inode(place, 2 * UInt64(percent) + 1))
  }
}
