internal import Bytes
internal import Tree

/// The files that one was split into, as that one: `a.z01`, `a.z02` and `a.zip` (APPNOTE 8.3), or `a.zip.001` and `a.zip.002`.
final class SplitFile: Item {
  private let source: Source
  private let files: FileGroup
  private let described: Attributes
  var inode: UInt64 { source.item.inode }
  var kind: Kind { .file }
  // It has the state that it was made of; `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// The extension of the first of files that were cut anywhere.
  static let first: FileExtension = "001"
  /// More parts are not looked for.
  private static let mostParts = 4096

  /// nil where there is no other part beside `source`.
  private init?(_ source: Source, _ patience: Patience) throws(Fault) {
    guard let files = try Self.files(of: source, patience) else { return nil }
    self.source = source
    self.files = files
    let rights = CommonRights(source.attributes, try source.item.accessList(), wanted: 4)
    described = try files.narrowing(rights).applied(
      to: source.attributes.view(inode: source.item.inode, kind: .file, size: files.size))
  }

  /// The whole of what `source` is a part of; itself where there is no other part. Looks up the names of the parts, one that is
  /// not there included.
  static func whole(of source: Source, _ patience: Patience) throws(Fault) -> Source {
    guard !source.isConcealed, let item = try SplitFile(source, patience) else { return source }
    return Source(item: item, attributes: item.described, name: source.name, folder: source.folder)
  }

  private static func files(of source: Source, _ patience: Patience) throws(Fault) -> FileGroup? {
    guard let names = PartNames(source.name) else { return nil }
    var others: [FileGroup.Member] = []
    while others.count < mostParts,
      let part = try FileGroup.member(named: names[others.count], in: source.folder.item, patience)
    {
      others.append(part)
    }
    if others.isEmpty { return nil }
    let own = FileGroup.Member(name: source.name, item: source.item, attributes: source.attributes)
    return FileGroup(names.areBefore ? others + [own] : [own] + others)
  }

  func revision(_ attributes: Attributes) -> UInt64 { files.state }
  /// Its mode says what all lists leave.
  func accessList() throws(Fault) -> AccessList? { nil }
  func soleOwner(_ attributes: Attributes) -> UInt32? { files.soleOwner }
  func attributes(_ patience: Patience) throws(Fault) -> Attributes { described }
  var sourceState: UInt64 { source.item.sourceState }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    var parts: [(name: FileName, bytes: any ByteSource)] = []
    for member in files.members { parts.append((member.name, try member.open(patience))) }
    return try JoinedSource(parts)
  }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try source.item.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as it was.
    if source.item.isImmutable { return }
    let attributes: Attributes
    do throws(Fault) { attributes = try source.item.attributes(patience) } catch {
      if error.isDelay { throw error }
      // Gone, or another file in its place.
      throw .stale
    }
    guard try Self.files(of: source.now(attributes), patience)?.state == files.state else { throw .stale }
  }
}

/// What the other parts of a split file are named.
private struct PartNames {
  private let stem: ArraySlice<UInt8>
  private let letters: ArraySlice<UInt8>
  /// Whether they come before the one that is asked for.
  let areBefore: Bool

  /// nil for a name that no split file has.
  init?(_ name: FileName) {
    guard let fileExtension = name.fileExtension, let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else {
      return nil
    }
    stem = name.bytes[...dot]
    let spelling = name.bytes[(dot + 1)...]
    switch fileExtension {
    case SplitFile.first: letters = []
    // In the case of letters that the last one has.
    case "zip": letters = spelling.prefix(1)
    case "zipx": letters = spelling.prefix(1) + spelling.suffix(1)
    default: return nil
    }
    areBefore = !letters.isEmpty
  }

  /// The first part is 01 or 001; what is asked for is itself the last, or else the first.
  subscript(index: Int) -> FileName {
    let digits = String(index + (areBefore ? 1 : 2))
    let zeros = String(repeating: "0", count: max(0, (areBefore ? 2 : 3) - digits.utf8.count))
    return FileName(stem + letters + Array((zeros + digits).utf8))
  }
}
