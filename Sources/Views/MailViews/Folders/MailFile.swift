internal import Bytes
internal import Mail
internal import Tree

/// A file that is one message, in a folder of such files.
struct MailFile: Sendable {
  let name: FileName
  /// Which of the folders that hold messages it is in.
  let folder: Int
  let identity: Identity
  /// What its name says of it.
  let state: MessageState

  /// Names the message, whatever mail programs do to its file: when its flags change, the name and the ctime do, and
  /// when it is read for the first time, the folder does. Another message in the same file has another size or mtime.
  struct Identity: Hashable, Sendable {
    let inode: UInt64
    let size: Int64
    let modified: Timestamp
    /// A hash of the name without flags.
    let name: UInt64

    /// For tables in memory and `ShownMessage`.
    var hash: UInt64 {
      StableHash(seed: inode).adding(UInt64(bitPattern: size)).adding(UInt64(bitPattern: modified.seconds))
        .adding(UInt64(UInt32(bitPattern: modified.nanoseconds))).adding(name).value
    }
  }

  init(_ name: FileName, _ attributes: Attributes, in folder: Int, isInMaildir: Bool) {
    self.name = name
    self.folder = folder
    let (base, flags) = isInMaildir ? Self.parts(of: name.bytes) : (name.bytes, nil)
    var hash = StableHash()
    hash.combine(base)
    identity = Identity(
      inode: attributes.inode, size: Bounds.size(attributes.size), modified: attributes.modified, name: hash.value)
    state = isInMaildir ? MessageState(maildirFlags: flags ?? []) : []
  }

  var isAppleMail: Bool { name.fileExtension == "emlx" }

  /// The name of a file of a Maildir without its flags, and the flags: `1700000000.M1P2.host:2,FS`. Where a file system
  /// does not take a colon, programs write another sign.
  private static func parts(of name: ArraySlice<UInt8>) -> (base: ArraySlice<UInt8>, flags: ArraySlice<UInt8>?) {
    guard let comma = name.lastIndex(of: UInt8(ascii: ",")), comma - name.startIndex > 2,
      name[comma - 1] == UInt8(ascii: "2"), ":;!".utf8.contains(name[comma - 2])
    else { return (name, nil) }
    return (name[..<(comma - 2)], name[(comma + 1)...])
  }

  /// The number that a name starts with, by which files are sorted first: a Maildir's have the time of delivery; and the
  /// base name.
  var order: (number: UInt64, rest: ArraySlice<UInt8>) {
    var number: UInt64 = 0
    var rest = Self.parts(of: name.bytes).base
    while let digit = rest.first, digit.isDigit, number < UInt64.max / 16 {
      number = number * 10 + UInt64(digit - 0x30)
      rest.removeFirst()
    }
    return (rest.count == name.count ? .max : number, rest)
  }

  /// Whether a file of this name may be a message in a folder that is no Maildir.
  static func isMessage(_ name: ListedName) -> Bool {
    name.fileExtension == "eml" || name.fileExtension == "emlx"
  }

  /// Whether a name is a number, as those of messages in MH folders are.
  static func isNumber(_ name: FileName) -> Bool { name.count <= 12 && name.bytes.allSatisfy(\.isDigit) }
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
