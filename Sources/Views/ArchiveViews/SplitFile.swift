internal import Bytes
internal import Tree
internal import Zip

/// The parts of a split file as one file: `a.z01`, `a.z02` and `a.zip` (APPNOTE 8.3); `a.zip.001` and `a.zip.002`;
/// `a.part1.rar` and `a.part2.rar`, or `a.rar` and `a.r00`.
final class SplitFile: Item {
  private let source: Source
  private let names: PartNames
  /// The number of parts, if the other parts precede this one.
  private let count: Int
  private let parts: [Part]
  private let files: FileGroup
  private let described: Attributes
  var inode: UInt64 { source.item.inode }
  var kind: Kind { .file }
  // The item represents the state that it was created from, which `checkCurrent` compares.
  var isImmutable: Bool { true }

  private enum Part {
    case present(FileGroup.Member)
    case missing(FileName)
  }

  /// The extension of the first part of a file that was split at arbitrary offsets.
  static let first: FileExtension = "001"
  /// The number of consecutive missing names that ends the search for parts.
  private static let widestGap = 4
  /// The maximum number of parts that an archive can record.
  private static let mostParts = 0xffff

  /// Finds the parts. Returns `nil` if `source` is the only one.
  private init?(_ source: Source, _ names: PartNames, count: Int, _ blocking: BlockingMode) throws(Fault) {
    parts = try Self.parts(of: source, names, count: count, blocking)
    files = Self.present(parts)
    guard files.members.count > 1 else { return nil }
    self.source = source
    self.names = names
    self.count = count
    let rights = CommonRights(source.attributes, try source.item.accessList(), wanted: 4)
    described = try files.narrowing(rights).applied(
      to: source.attributes.view(inode: source.item.inode, kind: .file, size: files.size))
  }

  /// Returns the whole file that `source` is a part of. Returns `source` itself if it is not a part or no other part
  /// exists.
  ///
  /// Looks up the name of the next part. If it exists, the number of parts is read from the end of the last one, and
  /// all of their names are looked up.
  static func whole(of source: Source, _ blocking: BlockingMode) throws(Fault) -> Source {
    guard !source.isConcealed, let names = PartNames(source.name) else { return source }
    var count = 1
    if names.areBefore {
      guard try FileGroup.member(named: names[0], in: source.folder.item, blocking) != nil else { return source }
      if blocking == .immediate { throw .later }
      let found = try unlessDelayed { () throws(Fault) in try ZipArchive.partCount(of: source.open(blocking)) }
      count = found ?? 1
      if count == 1 { return source }
    }
    guard let item = try SplitFile(source, names, count: count, blocking) else { return source }
    return Source(item: item, attributes: item.described, name: source.name, folder: source.folder)
  }

  /// Returns whether, by its name, `source` is a part that another file represents.
  static func isFurther(_ source: Source, _ blocking: BlockingMode) throws(Fault) -> Bool {
    for name in PartNames.leaders(of: source.name)
    where try FileGroup.member(named: name, in: source.folder.item, blocking) != nil {
      return true
    }
    return false
  }

  private static func parts(
    of source: Source, _ names: PartNames, count: Int, _ blocking: BlockingMode
  ) throws(Fault) -> [Part] {
    var others: [Part] = []
    var found = 0
    while names.areBefore ? others.count < count - 1 : others.count < min(found + widestGap, mostParts) {
      try CancellationToken.check()
      let name = names[others.count]
      if let member = try FileGroup.member(named: name, in: source.folder.item, blocking) {
        others.append(.present(member))
        found = others.count
      } else {
        others.append(.missing(name))
      }
    }
    let own = Part.present(FileGroup.Member(name: source.name, item: source.item, attributes: source.attributes))
    return names.areBefore ? others + [own] : [own] + others.prefix(found)
  }

  private static func present(_ parts: [Part]) -> FileGroup {
    FileGroup(parts.compactMap { if case .present(let member) = $0 { member } else { nil } })
  }

  func revision(_ attributes: Attributes) -> UInt64 { files.state }
  /// Returns `nil`: the mode already reflects all access lists.
  func accessList() throws(Fault) -> AccessList? { nil }
  func soleOwner(_ attributes: Attributes) -> UInt32? { files.soleOwner }
  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }
  var sourceState: UInt64 { source.item.sourceState }

  /// The fault of the first missing part.
  var fault: Fault? {
    for case .missing(let name) in parts { return Self.fault(ofMissing: name) }
    return nil
  }

  private static func fault(ofMissing name: FileName) -> Fault {
    Fault(.unsupported, "it is split into several files, and \(name.text) is missing")
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    var joined: [(name: FileName, bytes: any ByteSource)] = []
    for part in parts {
      switch part {
      case .present(let member): joined.append((member.name, try member.open(blocking)))
      case .missing(let name):
        // Parts split at arbitrary offsets are as long as the first. Offsets into other parts can be any 32-bit number.
        let size = names.areBefore ? 1 << 32 : source.attributes.size
        joined.append((name, AbsentBytes(size: size, Self.fault(ofMissing: name))))
      }
    }
    return try JoinedSource(joined)
  }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard let now = try source.now(isDoubted: isDoubted, blocking) else { return }
    let parts = try Self.parts(of: now, names, count: count, blocking)
    guard Self.present(parts).state == files.state else { throw .stale }
  }
}
