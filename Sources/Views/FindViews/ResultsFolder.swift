internal import Bytes
internal import Files
internal import Glibc
internal import Text
internal import Tree

/// `FOLDER.search/QUERY/`: the documents that match a query, the best first, after a notice if some may be missing.
final class ResultsFolder: SearchItem {
  let searched: SearchedFolder
  private let query: [UInt8]
  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }

  init(_ searched: SearchedFolder, _ query: [UInt8]) {
    self.searched = searched
    self.query = query
    var hash = StableHash(seed: Self.mark)
    hash.combine(query)
    identity = hash.value
    inode = searched.file.inode(identity)
  }

  private static let mark: UInt64 = 0x6669_6e65 << 32

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { searched.attributes(inode: inode) }

  /// Returns the results. Returns `nil` if the query is invalid.
  private func results(isNew: Bool, _ blocking: BlockingMode) throws(Fault) -> OpenSearch.Results? {
    if blocking == .immediate, isNew { throw .later }
    do throws(Fault) {
      return try searched.search().results(query, for: searched.reader, isNew: isNew, blocking)
    } catch {
      if error.kind == .unsupported, error != .noDocumentIndex { return nil }
      throw error
    }
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    if name.bytes.first == 0x2e { return nil }
    if blocking == .immediate { throw .later }
    if let rank = ResultName.rank(of: name) { return try hit(rank, named: name, blocking) }
    // Programs read a list by its name without listing the directory. Other names are those of the last listing.
    let list = ResultList.Form(name: name)
    guard let results = try results(isNew: list != nil, blocking) else { return nil }
    let owner = try searched.reader.owner
    if let list { return try lookup(ResultList(searched, results, list, identity, owner)) }
    guard let percent = results.percent else { return nil }
    let notice = notice(percent, owner)
    return name == notice.name ? try lookup(notice) : nil
  }

  /// Returns the result with a rank. Returns `nil` if it has another name.
  private func hit(_ rank: Int, named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    var found = try searched.search().knownHit(query, rank - 1, for: searched.reader)
    if found == nil, let hits = try results(isNew: false, blocking)?.hits, hits.indices.contains(rank - 1) {
      found = (hits[rank - 1], hits.count)
    }
    guard let (hit, count) = found, ResultName.name(of: hit, rank: rank, among: count) == name,
      let tree = searched.service.tree
    else { return nil }
    let path = hit.path.split(separator: UInt8(ascii: "/")).map { FileName($0) }
    guard let found = try waiting({ () throws(Fault) in try tree.found(at: path, below: searched.folder) }) else {
      return nil
    }
    guard let item = HitItem(found, identity, inode: searched.file.inode(identity, UInt64(rank))) else { return nil }
    return try lookup(item)
  }

  private func notice(_ percent: Int, _ owner: (user: UInt32, group: UInt32)) -> SearchNotice {
    SearchNotice(
      SearchNotice.Subject(things: "files", argument: "FOLDER"), percent: percent, of: file, view: "search",
      inode: file.inode(identity, Self.noticeParts + UInt64(percent)), owner: owner)
  }

  private static let noticeParts: UInt64 = 1 << 33

  private func lookup(_ item: some Item) throws(Fault) -> LookupResult {
    let attributes = try item.attributes(.blocking)
    // Another user finds other results under the same name.
    let isShared = searched.service.tree?.isShared ?? true
    return isShared ? LookupResult(uncached: item, attributes) : LookupResult(item, attributes)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    guard let results = try results(isNew: true, blocking) else { return IndexedCursor([]) }
    let reader = try searched.reader
    if searched.file.attributes.kind == .folder { try searched.search().note(FileName(query), of: reader) }
    var entries: [IndexedCursor.Entry] = []
    if let percent = results.percent {
      let notice = notice(percent, reader.owner)
      entries.append((notice.name, notice.inode, .file))
    }
    for form in ResultList.Form.allCases {
      entries.append((form.name, ResultList(searched, results, form, identity, reader.owner).inode, .file))
    }
    for (index, hit) in results.hits.enumerated() {
      entries.append(
        (
          ResultName.name(of: hit, rank: index + 1, among: results.hits.count),
          searched.file.inode(identity, UInt64(index + 1)), hit.isFolder ? .folder : .file
        ))
    }
    return IndexedCursor(entries)
  }

  /// The maximum size of a query in a message, in bytes.
  private static let shownAtMost = 200

  // MARK: Extended attributes

  private static let resultsName: FileName = "user.ffmount.results"
  private static let lockedName: FileName = "user.ffmount.locked"

  /// Returns the values of the attributes, by name.
  private func numbers(_ blocking: BlockingMode) throws(Fault) -> [(name: FileName, value: Int)] {
    guard let results = try results(isNew: false, blocking) else { return [] }
    let locked = results.locked.count
    return [(Self.resultsName, results.count)] + (locked > 0 ? [(Self.lockedName, locked)] : [])
  }

  func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard [Self.resultsName, Self.lockedName].contains(name),
      let number = try numbers(blocking).first(where: { $0.name == name })
    else { throw .noAttribute }
    return Array("\(number.value)".utf8)
  }

  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try numbers(blocking).flatMap { Array($0.name.bytes) + [0] }
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var provenance = file.provenance(view: "search", nil)
    do throws(Fault) {
      let results = try searched.search().results(query, for: searched.reader, isNew: false, blocking)
      if results.percent != nil || results.fault != nil { provenance.state = .estimate }
      provenance.error = results.fault?.reason
    } catch {
      guard error.concernsContent else { throw error }
      provenance.state = .failed
      provenance.error = "'\(String(decoding: query.prefix(Self.shownAtMost), as: UTF8.self))': \(error.reason)"
    }
    return provenance
  }
}

extension FolderFinder.Hit {
  /// Whether the document is a directory in the tree.
  package var isFolder: Bool { kind == .folder || kind == .mail && !isFile }

  /// Whether a message is a file of its own.
  private var isFile: Bool {
    let parts = path.split(separator: UInt8(ascii: "/"))
    return !(parts.dropLast().last.map { $0.suffix(9) == Array(".messages".utf8)[...] } ?? false)
  }
}

/// The names of results: a rank, a date, and the name of the document.
enum ResultName {
  static func name(of hit: FolderFinder.Hit, rank: Int, among count: Int) -> FileName {
    let number = "\(rank)"
    let zeros = String(repeating: "0", count: max(0, max(3, "\(count)".utf8.count) - number.utf8.count))
    let parts = hit.path.split(separator: UInt8(ascii: "/"))
    var name = parts.last.map { Array($0) } ?? []
    if let folder = parts.dropLast().last, folder.suffix(6) == Array(".pages".utf8)[...] {
      name = folder.dropLast(6) + Array(" page ".utf8) + name
    } else if let folder = parts.dropLast().last, folder.suffix(7) == Array(".sheets".utf8)[...] {
      name = folder.dropLast(7) + [0x20] + name
    } else if hit.kind == .mail, hit.isFolder {
      // The number of the message in its mailbox, and its date.
      name = Array(name.drop { $0 != 0x20 }.dropFirst())
      if let date = hit.shownDay, name.starts(with: Array(date.utf8)) {
        name = Array(name.dropFirst(date.utf8.count + 1))
      }
    }
    let start = Array("\(zeros)\(number) \(hit.shownDay.map { $0 + " " } ?? "")".utf8)
    return FileName(SafeName.cut((start + name)[...], keepingExtensionTo: SafeName.longest))
  }

  /// Returns the rank at the start of a name. Returns `nil` for another name.
  static func rank(of name: FileName) -> Int? {
    let digits = name.bytes.prefix { $0.isAsciiDigit }
    guard (3...6).contains(digits.count), name.bytes.dropFirst(digits.count).first == 0x20 else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }
}

extension FolderFinder.Hit {
  /// The date, such as `2024-05-03`, in the zone of its author or in the local one.
  var shownDay: String? {
    guard let date else { return nil }
    var seconds = time_t(day.map { Int64($0) * 86_400 } ?? date)
    var parts = unsafe tm()
    guard unsafe (day == nil ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts)) != nil else { return nil }
    var text = [CChar](repeating: 0, count: 32)
    _ = unsafe strftime(&text, text.count, "%Y-%m-%d", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A file or directory among the results: the item at its own path, under another name.
final class HitItem: DerivedItem {
  let file: SourceState
  let identity: UInt64
  let inode: UInt64
  private var item: any Item { file.source.item }
  var kind: Kind { file.attributes.kind }
  var isImmutable: Bool { kind != .folder && item.isImmutable }
  var listsViews: Bool { item.listsViews }
  var attributeCost: AttributeCost { item.attributeCost }
  var claimsItsContent: Bool { item.claimsItsContent }
  var knownHead: [UInt8]? { item.knownHead }

  /// - Parameters:
  ///   - place: identifies the directory.
  ///   - inode: `nil` for an entry of a real directory among the results.
  init?(_ source: Source, _ place: UInt64, inode: UInt64? = nil) {
    guard [.file, .folder].contains(source.attributes.kind) else { return nil }
    file = SourceState(source)
    let content = source.item.content ?? (source.attributes.kind == .folder ? 0 : file.revision)
    identity = StableHash(seed: place).adding(content).value
    self.inode = inode ?? file.inode(Self.mark)
    self.place = place
  }

  private let place: UInt64
  private static let mark: UInt64 = 0x6669_6e66 << 32

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    var attributes = try item.attributes(blocking)
    if item.content == nil {
      return attributes.view(inode: inode, kind: kind, size: kind == .folder ? 0 : attributes.size)
    }
    attributes.inode = inode
    return attributes
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try item.open(pinned: pinned, blocking)
  }
  func openEarly(_ isPatient: @Sendable () -> Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try item.openEarly(isPatient, blocking)
  }
  func openAgain(_ blocking: BlockingMode) throws(Fault) -> any ByteSource { try item.openAgain(blocking) }
  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {
    try item.findSize(atAnyCost: atAnyCost, blocking)
  }
  func measureSize(_ blocking: BlockingMode) throws(Fault) { try item.measureSize(blocking) }
  func soleOwner(_ attributes: Attributes) -> UInt32? { item.soleOwner(attributes) }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard kind == .folder else { throw .notFolder }
    if item.content != nil { return try item.child(named: name, blocking) }
    guard let found = try file.source.child(named: name, blocking), let item = HitItem(found, place) else { return nil }
    return LookupResult(item, try item.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { try item.listing(blocking) }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try item.provenance(blocking) ?? file.provenance(view: "search", nil)
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try item.knownProvenance(blocking) ?? file.provenance(view: "search", nil)
  }
}
