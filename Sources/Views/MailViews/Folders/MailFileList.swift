internal import Bytes
internal import Files
internal import Mail
internal import Tree

/// The message files of a folder, as a listing has them.
///
/// Those of a Maildir are in its folders `new` and `cur`; other folders have `.eml` and `.emlx` files, or, as MH has them,
/// files whose names are numbers. Links are not followed.
struct MailFileList {
  private(set) var files: [MailFile] = []
  /// The folders that hold them.
  let places: [Found]
  /// Who may read all of them.
  private(set) var rights: CommonRights
  /// A hash of the files' times of change.
  private(set) var changes: UInt64 = 0
  /// Of the folder and `places`: mtime and ctime.
  let times: [Timestamp]
  private(set) var isSettled = false
  private let isMaildir: Bool
  private var last: (owner: UInt32, group: UInt32, permissions: UInt16)?

  /// More messages are not shown.
  private static let most = 1 << 24
  /// How often a folder is listed again that changes meanwhile.
  private static let attempts = 3
  /// So many files whose names are numbers must be messages for a folder to be one of mail.
  private static let probes = 3

  static let maildir: [FileName] = ["cur", "new", "tmp"]

  /// nil if there are no messages, and the folder is no Maildir. Blocks.
  static func whole(of found: Found) throws(Fault) -> MailFileList? {
    var attempt = 1
    while true {
      guard var list = try MailFileList(found) else { return nil }
      let before = Timestamp.now
      guard try list.fill() else { return nil }
      // A file that is renamed while its folder is listed may be missed.
      let now = try times(of: [found.item] + list.places.map(\.item))
      if now == list.times || attempt == attempts {
        list.isSettled = now == list.times && now.allSatisfy { $0.isPast(at: before) }
        list.sort()
        return list
      }
      attempt += 1
    }
  }

  static func times(of folders: [any Item]) throws(Fault) -> [Timestamp] {
    var times: [Timestamp] = []
    for folder in folders {
      let attributes = try folder.attributes(.blocking)
      times += [attributes.modified, attributes.changed]
    }
    return times
  }

  private init?(_ found: Found) throws(Fault) {
    var parts: [Found] = []
    for name in Self.maildir {
      guard let part = try found.item.child(named: name, .blocking), part.attributes.kind == .folder else { break }
      parts.append(part)
    }
    isMaildir = parts.count == Self.maildir.count
    // A message that is read for the first time moves from `new` to `cur`: so it is found in one of them at least.
    places = isMaildir ? [parts[1], parts[0]] : [found]
    // Who may not list the folders, or reach what is in them, may not read it all at once either.
    rights = CommonRights(found.attributes, try found.item.accessList(), wanted: 5)
    if isMaildir {
      for place in places {
        rights.narrow(to: CommonRights(place.attributes, try place.item.accessList(), wanted: 5))
      }
    }
    times = try Self.times(of: [found.item] + places.map(\.item))
  }

  /// Returns whether it is a folder of mail.
  private mutating func fill() throws(Fault) -> Bool {
    var numbers: [FileName] = []
    var isMH = false
    for (number, place) in places.enumerated() {
      let listing = try place.item.listing(.blocking)
      var offset: Int64 = 0
      while true {
        try Interest.check()
        let entries = try listing.entries(after: offset, .blocking)
        guard let last = entries.last else { break }
        offset = last.next
        for entry in entries where entry.kind == .file {
          if isMaildir {
            let name = entry.name.fileName
            if name.bytes.first != UInt8(ascii: ".") { try add(name, in: number) }
          } else if MailFile.isMessage(entry.name) {
            try add(entry.name.fileName, in: number)
          } else if entry.name.fileExtension == nil {
            let name = entry.name.fileName
            if MailFile.isNumber(name) { numbers.append(name) }
            if name == ".mh_sequences" { isMH = true }
          }
        }
      }
    }
    if files.isEmpty, !isMH, !numbers.isEmpty { isMH = try areMessages(numbers.prefix(Self.probes)) }
    if files.isEmpty, isMH {
      for name in numbers { try add(name, in: 0) }
    }
    return isMaildir || !files.isEmpty
  }

  private mutating func add(_ name: FileName, in place: Int) throws(Fault) {
    // A name that has just vanished is none.
    guard let found = try places[place].item.child(named: name, .blocking), found.attributes.kind == .file else {
      return
    }
    guard files.count < Self.most else { throw Fault(.limit, "there are more than \(Self.most) messages") }
    let attributes = found.attributes
    files.append(MailFile(name, attributes, in: place, isInMaildir: isMaildir))
    changes ^=
      StableHash(seed: attributes.inode).adding(UInt64(bitPattern: attributes.changed.seconds))
      .adding(UInt64(UInt32(bitPattern: attributes.changed.nanoseconds))).value
    // What only its owner may read has no list that gives it to others.
    let list = attributes.permissions & 0o077 == 0 ? nil : try found.item.accessList()
    if list == nil, let last, last == (attributes.owner, attributes.group, attributes.permissions) { return }
    last = (attributes.owner, attributes.group, attributes.permissions)
    rights.narrow(to: CommonRights(attributes, list, wanted: 4))
  }

  private func areMessages(_ names: ArraySlice<FileName>) throws(Fault) -> Bool {
    for name in names {
      guard let found = try places[0].item.child(named: name, .blocking), found.attributes.kind == .file,
        let head = try head(of: found), Header.looksLikeMessage(startingWith: head)
      else { return false }
    }
    return true
  }

  /// The first bytes of a file; nil if they cannot be read.
  private func head(of found: Found) throws(Fault) -> ArraySlice<UInt8>? {
    try unlessDelayed { () throws(Fault) in
      try found.item.open(pinned: false, .blocking).head(4096, .blocking)
    }
  }

  /// Puts the files in the order of their names, and leaves out those that were found twice.
  private mutating func sort() {
    let keys = files.map(\.order)
    var order = Array(files.indices)
    order.sort { one, other in
      if keys[one].number != keys[other].number { return keys[one].number < keys[other].number }
      if keys[one].rest != keys[other].rest { return keys[one].rest.lexicographicallyPrecedes(keys[other].rest) }
      // In `cur` before `new`, where it was until just now.
      return (files[one].identity.inode, files[other].folder) < (files[other].identity.inode, files[one].folder)
    }
    var sorted: [MailFile] = []
    sorted.reserveCapacity(files.count)
    for index in order where sorted.last?.identity != files[index].identity { sorted.append(files[index]) }
    files = sorted
  }
}
