internal import Bytes
internal import Locks
internal import Tree

/// The checksums of the files below a folder, one line for each, in the order of their paths.
///
/// Symbolic links and special files have none.
final class SumsFile: Item {
  private let file: SourceState
  private let folder: LookupResult
  private let list: SumList
  private let shown: Attributes
  private let state: UInt64

  var kind: Kind { .file }
  let inode: UInt64
  var isImmutable: Bool { true }
  var content: UInt64? { state }
  var sourceState: UInt64 { StableHash(seed: file.state).adding(state).value }
  var knownHead: [UInt8]? { [] }

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7368_6132 << 32
  /// The maximum number of files.
  private static let most = 1 << 20
  /// The maximum depth of folders.
  private static let deepest = 256

  /// Lists the files. Throws `later` if that would block.
  init(_ file: SourceState, of folder: LookupResult, _ blocking: BlockingMode) throws(Fault) {
    self.file = file
    self.folder = folder
    inode = file.inode(Self.mark)
    // A caller without permission to list the folder must not learn of its files.
    if file.source.isConcealed {
      list = SumList([])
      state = 0
      shown = file.attributes.view(inode: inode, kind: .file, size: 0)
      return
    }
    if blocking == .immediate { throw .later }
    let (files, rights) = try Self.files(below: folder)
    list = SumList(files.members)
    state = files.state
    let attributes = folder.attributes.view(inode: inode, kind: .file, size: list.size)
    // A caller without permission to read one of the files may not read all checksums together.
    shown = try folder.item.isImmutable ? attributes : files.narrowing(rights).applied(to: attributes)
  }

  /// Returns the files below a folder, in the order of their paths, and the rights to its folders. Blocks.
  private static func files(below folder: LookupResult) throws(Fault) -> (FileGroup, CommonRights) {
    var members: [FileGroup.Member] = []
    var rights = CommonRights(folder.attributes, try folder.item.accessList(), wanted: 5)
    var rest: [(path: [UInt8], item: any Item, depth: Int)] = [([], folder.item, 0)]
    while let next = rest.popLast() {
      guard next.depth <= deepest else { throw Fault(.limit, "it has more than \(deepest) folders in one another") }
      let listing = try next.item.listing(.blocking)
      var place: Int64 = 0
      while true {
        try CancellationToken.check()
        let entries = try listing.entries(after: place, .blocking)
        guard let last = entries.last else { break }
        place = last.next
        for entry in entries where entry.kind == .file || entry.kind == .folder {
          // A name that has just vanished is ignored.
          guard let found = try next.item.child(named: entry.name.fileName, .blocking) else { continue }
          let path = next.path + entry.name.bytes
          switch found.attributes.kind {
          case .folder:
            if !found.item.isImmutable {
              rights.narrow(to: CommonRights(found.attributes, try found.item.accessList(), wanted: 5))
            }
            rest.append((path + [UInt8(ascii: "/")], found.item, next.depth + 1))
          case .file:
            guard members.count < most else { throw Fault(.limit, "it has more than \(most) files") }
            members.append(FileGroup.Member(name: FileName(path), item: found.item, attributes: found.attributes))
          default: break
          }
        }
      }
    }
    return (FileGroup(members.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }), rights)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { shown }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { list }

  func revision(_ attributes: Attributes) -> UInt64 { StableHash(seed: inode).adding(state).value }

  /// Returns the access list of an archive. The mode reflects those of a folder's files.
  func accessList() throws(Fault) -> AccessList? {
    folder.item.isImmutable ? try file.accessList(.file) : nil
  }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try file.checkCurrent(isDoubted: isDoubted, blocking)
    if file.source.isConcealed { return }
    if folder.item.isImmutable { return try folder.item.checkCurrent(isDoubted: isDoubted, blocking) }
    if blocking == .immediate { throw .later }
    guard try Self.files(below: folder).0.state == state else { throw .stale }
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    file.provenance(view: "sha256", list.fault)
  }
}
