internal import Bytes
internal import Files
internal import Glibc
internal import Mail
internal import Tree

/// The message files of a directory, as listed.
///
/// A Maildir has them in its directories `new`, if it has one, and `cur`. Other directories have `.eml` and `.emlx`
/// files or, in MH, files whose names are numbers. Links are not followed.
///
/// When a directory is listed again, the earlier list is reused. A directory whose times are unchanged is not read. In
/// a Maildir, where names are not reused, only files with new names are checked.
struct MailFileList: Sendable {
  private(set) var files: [MailFile] = []
  private(set) var places: [DirectoryStamp] = []
  /// The path prefixes of the file names, by directory.
  let names: [String]
  /// The directory itself.
  private var folder: DirectoryStamp
  /// The rights to read all of them.
  private(set) var rights: CommonRights
  /// A hash of the files' ctimes.
  private(set) var changes: UInt64 = 0
  let isMaildir: Bool
  /// The distinct rights to the files.
  private var shares = Shares()

  /// A table of the distinct rights to files, of which there are few.
  private struct Shares {
    var all: [CommonRights] = []
    private var numbers: [CommonRights: Int] = [:]
    private var last: (owner: UInt32, group: UInt32, permissions: UInt16, number: Int)?

    mutating func number(
      _ attributes: Attributes, _ accessList: () throws(Fault) -> AccessList?
    ) throws(Fault) -> Int {
      var list: AccessList?
      // If only the owner may read a file, no access list grants more.
      if attributes.permissions & 0o077 != 0 { list = try accessList() }
      let mode = (attributes.owner, attributes.group, attributes.permissions)
      if list == nil, let last, (last.owner, last.group, last.permissions) == mode { return last.number }
      let rights = CommonRights(attributes, list, wanted: 4)
      let number = numbers[rights] ?? all.count
      if number == all.count {
        all.append(rights)
        numbers[rights] = number
      }
      if list == nil { last = (mode.0, mode.1, mode.2, number) }
      return number
    }
  }

  /// The maximum number of messages.
  private static let most = 1 << 24
  /// The maximum number of attempts to list a directory that changes meanwhile.
  private static let attempts = 3
  /// The number of files with numbers as names that must be messages for a directory to be an MH folder.
  private static let probes = 3

  static let maildir: [FileName] = ["cur", "new", "tmp"]

  /// Lists the message files. Blocks. Returns `nil` if there are none and the directory is not a Maildir.
  ///
  /// With `isTrusted`, files of `earlier` are taken to be unchanged unless the directory's times differ. Otherwise they
  /// are checked again.
  static func whole(
    of found: LookupResult, after earlier: MailFileList?, isTrusted: Bool
  ) throws(Fault) -> MailFileList? {
    var attempt = 1
    while true {
      guard var list = try MailFileList(found, after: earlier) else { return nil }
      let before = Timestamp.now
      guard try list.fill(earlier.map { Known($0, isTrusted: isTrusted) }) else { return nil }
      // A file that is renamed while its directory is listed may be missed.
      var isSame = try list.folder.settle(before)
      for number in list.places.indices where try !list.places[number].settle(before) { isSame = false }
      if isSame || attempt == attempts {
        list.finish()
        return list
      }
      attempt += 1
    }
  }

  /// Whether a file is known to have changed, as of the last `ChangeNotices.update`.
  var hasChanges: Bool { places.contains(where: \.hasChanges) }

  /// Returns whether the directories' times are unchanged and would show any change.
  func isPresent() throws(Fault) -> Bool {
    for place in places + [folder] where try !place.isPresent() { return false }
    return true
  }

  private init?(_ found: LookupResult, after earlier: MailFileList?) throws(Fault) {
    var parts: [FileName: LookupResult] = [:]
    for name in Self.maildir {
      let part = try found.item.child(named: name, .blocking)
      if let part, part.attributes.kind == .folder { parts[name] = part }
    }
    isMaildir = parts["cur"] != nil && parts["tmp"] != nil
    // A message that is read for the first time moves from `new` to `cur`. In this order, it is found at least once.
    // Thunderbird has no `new`.
    let folders: [FileName] = isMaildir ? ["new", "cur"].filter { parts[$0] != nil } : []
    names = isMaildir ? folders.map { $0.text + "/" } : [""]
    let holders = isMaildir ? folders.compactMap { parts[$0] } : [found]
    folder = try DirectoryStamp(found.item)
    // Reading all files also requires permission to list and search their directories.
    rights = CommonRights(found.attributes, try found.item.accessList(), wanted: 5)
    for holder in holders {
      if isMaildir { rights.narrow(to: CommonRights(holder.attributes, try holder.item.accessList(), wanted: 5)) }
      let known = earlier?.places.first { $0.item.inode == holder.item.inode }
      places.append(try DirectoryStamp(known?.item ?? holder.item, notesFiles: true))
    }
    if let earlier { shares = earlier.shares }
  }

  // MARK: Files

  /// The files that an earlier listing found.
  private struct Known {
    let list: MailFileList
    let isTrusted: Bool
    /// Whether each file is unchanged.
    var isKept: [Bool]
    private lazy var byInode = Dictionary(
      list.files.enumerated().map { ($0.element.identity.inode, $0.offset) }, uniquingKeysWith: { first, _ in first })
    /// The number of files that were searched for without `byInode`, which takes longer to create than a few searches.
    private var searches = 0
    private static let mostSearches = 8

    init(_ list: MailFileList, isTrusted: Bool) {
      self.list = list
      self.isTrusted = isTrusted
      isKept = Array(repeating: false, count: list.files.count)
    }

    /// Keeps the unchanged files of a directory. Returns the names of the others.
    mutating func keep(all place: Int) -> [FileName] {
      var changed: [FileName] = []
      let changes = list.places[place].changes
      let isUnchanged = changes.isEmpty
      let listed = list.files
      let files = listed.span
      for index in files.indices where Int(files[index].folder) == place {
        isKept[index] = isUnchanged || !changes.contains(files[index].name)
        if !isKept[index] { changed.append(files[index].name) }
      }
      return changed
    }

    /// The unchanged files.
    var kept: [MailFile] {
      isKept.contains(false) ? list.files.indices.filter { isKept[$0] }.map { list.files[$0] } : list.files
    }

    /// Returns the index of the file with this name and inode in a directory.
    mutating func index(of name: ArraySlice<UInt8>, _ inode: UInt64, in place: Int) -> Int? {
      guard let index = index(of: inode), Int(list.files[index].folder) == place, list.files[index].name.bytes == name
      else { return nil }
      return index
    }

    private mutating func index(of inode: UInt64) -> Int? {
      searches += 1
      if searches > Self.mostSearches { return byInode[inode] }
      let files = list.files.span
      return files.indices.first { files[$0].identity.inode == inode }
    }
  }

  /// Finds the files. Returns whether the directory contains mail.
  private mutating func fill(_ earlier: Known?) throws(Fault) -> Bool {
    var known = earlier.flatMap { $0.list.isMaildir == isMaildir && $0.list.places.count == places.count ? $0 : nil }
    var numbers: [FileName] = []
    var isMH = false
    for place in places.indices {
      if let before = known?.list.places[place], before.item.inode != places[place].item.inode { known = nil }
      if let trusted = known, trusted.isTrusted, trusted.list.places[place].isSettled,
        trusted.list.places[place].times == places[place].times
      {
        for name in known?.keep(all: place) ?? [] { try add(name, in: place, &known) }
        continue
      }
      let changes = known?.list.places[place].changes ?? .unknown
      try forEachName(in: place) { (name, inode) throws(Fault) in
        if isMaildir {
          // A name that was listed before has the same file.
          if known?.isTrusted ?? false, !changes.contains(name.fileName),
            let index = known?.index(of: name.bytes, inode, in: place)
          {
            known?.isKept[index] = true
          } else {
            try add(name.fileName, in: place, &known)
          }
        } else if MailFile.isMessage(name) {
          try add(name.fileName, in: place, &known)
        } else if name.fileExtension == nil {
          let name = name.fileName
          if MailFile.isNumber(name) { numbers.append(name) }
          if name == ".mh_sequences" { isMH = true }
        }
      }
    }
    func hasAny() -> Bool { !files.isEmpty || known?.isKept.contains(true) ?? false }
    if !hasAny(), !isMH, !numbers.isEmpty { isMH = try areMessages(numbers.prefix(Self.probes)) }
    if !hasAny(), isMH {
      for name in numbers { try add(name, in: 0, &known) }
    }
    if let known, known.isKept.contains(true) {
      files = known.kept + files
    }
    return isMaildir || !files.isEmpty
  }

  /// Calls `body` with each file's name and inode number according to the listing. Skips names in a Maildir that start
  /// with a dot.
  private func forEachName(
    in place: Int, _ body: (ListedName, UInt64) throws(Fault) -> Void
  ) throws(Fault) {
    let listing = try places[place].item.listing(.blocking)
    var offset: Int64 = 0
    while true {
      try CancellationToken.check()
      let entries = try listing.entries(after: offset, .blocking)
      guard let last = entries.last else { return }
      offset = last.next
      for entry in entries where entry.kind == .file {
        if isMaildir, entry.name.bytes.first == UInt8(ascii: ".") { continue }
        try body(entry.name, entry.inode)
      }
    }
  }

  private mutating func add(_ name: FileName, in place: Int, _ known: inout Known?) throws(Fault) {
    let folder = places[place].item
    // Skips a name that has just been removed.
    guard let attributes = try folder.attributes(of: ListedName(name), .blocking), attributes.kind == .file else {
      return
    }
    if let index = known?.index(of: name.bytes, attributes.inode, in: place),
      known?.list.files[index].isAsBefore(attributes) ?? false
    {
      known?.isKept[index] = true
      return
    }
    guard files.count < Self.most else { throw Fault(.limit, "it has more than \(Self.most) messages") }
    let share = try shares.number(attributes) { () throws(Fault) in
      guard let real = folder as? RealFolder else {
        return try folder.child(named: name, .blocking)?.item.accessList()
      }
      // A file that is removed or replaced meanwhile changes the directory's times.
      do throws(Fault) { return try real.accessList(of: name) } catch {
        guard error.kind == .system(ENOENT) else { throw error }
        return nil
      }
    }
    files.append(MailFile(name, attributes, in: place, isInMaildir: isMaildir, rights: share))
  }

  private func areMessages(_ names: ArraySlice<FileName>) throws(Fault) -> Bool {
    for name in names {
      guard let found = try places[0].item.child(named: name, .blocking), found.attributes.kind == .file,
        let head = try head(of: found), Header.looksLikeMessage(startingWith: head)
      else { return false }
    }
    return true
  }

  /// Returns the first bytes of a file. Returns `nil` if they cannot be read.
  private func head(of found: LookupResult) throws(Fault) -> ArraySlice<UInt8>? {
    try unlessDelayed { () throws(Fault) in
      try found.item.open(pinned: false, .blocking).head(4096, .blocking)
    }
  }

  /// Returns whether `isInOrder` holds for each file and the next one. Copies none of them.
  private func areSuccessive(_ isInOrder: (borrowing MailFile, borrowing MailFile) -> Bool) -> Bool {
    let all = files.span
    return all.indices.dropFirst().allSatisfy { isInOrder(all[$0 - 1], all[$0]) }
  }

  /// Sorts the files by name, removes duplicates, and computes the rights and the hash of the ctimes.
  private mutating func finish() {
    // The files of the earlier list are already sorted, and most new ones follow them.
    if !areSuccessive(MailFile.isBefore) { files.sort(by: MailFile.isBefore) }
    if !areSuccessive({ $0.hash != $1.hash || $0.identity != $1.identity }) {
      var single: [MailFile] = []
      for file in files where single.last?.identity != file.identity { single.append(file) }
      files = single
    }
    var isUsed = [Bool](repeating: false, count: shares.all.count)
    let listed = files
    let all = listed.span
    for index in all.indices {
      changes ^= all[index].changes
      isUsed[Int(all[index].rights)] = true
    }
    for (share, isUsed) in zip(shares.all, isUsed) where isUsed { rights.narrow(to: share) }
  }
}
