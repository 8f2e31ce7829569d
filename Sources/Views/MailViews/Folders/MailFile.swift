internal import Bytes
internal import Mail
internal import Tree

/// A message file in a directory of such files.
struct MailFile: Sendable {
  let name: FileName
  let identity: Identity
  /// The hash of the identity.
  let hash: UInt64
  /// The number that the name starts with, by which files are sorted first. In a Maildir, it is the time of delivery.
  let number: UInt64
  /// A hash of the ctime.
  let changes: UInt64
  /// The index of its rights in the list of distinct rights.
  let rights: Int32
  /// The index of the directory that contains it.
  let folder: UInt8
  /// The message's state according to the name.
  let state: MessageState

  /// Identifies the message across changes by mail programs. A change of flags changes the name and the ctime, and the
  /// first reading changes the directory. Another message in the same file has another size or mtime.
  struct Identity: Hashable, Sendable {
    let inode: UInt64
    let size: Int64
    let modified: Timestamp
    /// A hash of the name without flags.
    let name: UInt64

    /// The hash for tables in memory and `ShownMessage`.
    var hash: UInt64 {
      StableHash(seed: inode).adding(UInt64(bitPattern: size)).adding(UInt64(bitPattern: modified.seconds))
        .adding(UInt64(UInt32(bitPattern: modified.nanoseconds))).adding(name).value
    }
  }

  init(_ name: FileName, _ attributes: Attributes, in folder: Int, isInMaildir: Bool, rights: Int) {
    self.name = name
    self.folder = UInt8(folder)
    self.rights = Int32(rights)
    let (base, flags) = isInMaildir ? MessageState.parts(ofMaildirName: name.bytes) : (name.bytes, nil)
    var hash = StableHash()
    hash.combine(base)
    identity = Identity(
      inode: attributes.inode, size: Bounds.size(attributes.size), modified: attributes.modified, name: hash.value)
    self.hash = identity.hash
    state = isInMaildir ? MessageState(maildirFlags: flags ?? []) : []
    number = Self.number(in: base)
    changes = Self.changes(attributes)
  }

  private static func changes(_ attributes: Attributes) -> UInt64 {
    StableHash(seed: attributes.inode).adding(UInt64(bitPattern: attributes.changed.seconds))
      .adding(UInt64(UInt32(bitPattern: attributes.changed.nanoseconds))).value
  }

  /// Returns whether the file and its permissions are unchanged, judging by its times. Changes within a tick of the
  /// clock are missed.
  func isAsBefore(_ attributes: Attributes) -> Bool {
    identity.inode == attributes.inode && identity.size == attributes.size && identity.modified == attributes.modified
      && changes == Self.changes(attributes)
  }

  var isAppleMail: Bool { name.fileExtension == "emlx" }

  /// Returns the number that a name starts with.
  private static func number(in name: ArraySlice<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    for digit in name {
      guard digit.isDigit, number < UInt64.max / 16 else { break }
      number = number * 10 + UInt64(digit - 0x30)
    }
    return name.first?.isDigit ?? false ? number : .max
  }

  /// Returns whether a message precedes another one: by number, then by name.
  static func isBefore(_ one: borrowing MailFile, _ other: borrowing MailFile) -> Bool {
    if one.number != other.number { return one.number < other.number }
    let (name, rival) = (
      MessageState.parts(ofMaildirName: one.name.bytes).base, MessageState.parts(ofMaildirName: other.name.bytes).base
    )
    if name != rival { return name.lexicographicallyPrecedes(rival) }
    // `cur` precedes `new`, from which the file has just moved.
    return (one.identity.inode, other.folder) < (other.identity.inode, one.folder)
  }

  /// Returns whether a file of this name may be a message in a directory that is not a Maildir.
  static func isMessage(_ name: ListedName) -> Bool {
    name.fileExtension == "eml" || name.fileExtension == "emlx"
  }

  /// Returns whether a name is a number, like those of messages in MH folders.
  static func isNumber(_ name: FileName) -> Bool { name.count <= 12 && name.bytes.allSatisfy(\.isDigit) }
}

extension NumberBook.Key {
  /// The key of a message file. Names in a Maildir, and of Apple Mail's files, are not reused. Other files may be
  /// renamed. In an archive, all files get new inode numbers with each change.
  init(_ file: borrowing MailFile, isInMaildir: Bool, isInArchive: Bool) {
    let identity = file.identity
    if isInArchive {
      exact =
        StableHash(seed: identity.name).adding(UInt64(bitPattern: identity.size))
        .adding(UInt64(bitPattern: identity.modified.seconds)).value | 1
      likely = isInMaildir || file.isAppleMail ? identity.name : 0
      return
    }
    exact = file.hash == 0 ? 1 : file.hash
    if isInMaildir || file.isAppleMail {
      likely = identity.name
    } else {
      likely =
        StableHash(seed: identity.inode).adding(UInt64(bitPattern: identity.size))
        .adding(UInt64(bitPattern: identity.modified.seconds))
        .adding(UInt64(UInt32(bitPattern: identity.modified.nanoseconds))).value
    }
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
