internal import Bytes
internal import Catalogue
internal import Files
internal import Tree

/// The files of a folder that go into one document, in the order of their names.
///
/// Not the folders in it, nor what is nothing for the document by its extension. A link that stays in the folder is the file
/// that it leads to.
final class FolderBundle: Item {
  private let folder: any Item
  private let described: Attributes
  private let extensions: Set<FileExtension>
  private let files: FileGroup
  var inode: UInt64 { folder.inode }
  var kind: Kind { .file }
  // What is made of the folder has the state that it was made of; `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// More files are not merged.
  private static let mostMembers = 65_536

  /// - Parameter extensions: of the files.
  init(
    _ folder: any Item, _ attributes: Attributes, _ extensions: Set<FileExtension>, _ patience: Patience
  ) throws(Fault) {
    self.folder = folder
    self.extensions = extensions
    files = try Self.files(of: folder, extensions, patience)
    // Who may not list the folder, or reach what is in it, may not read it all at once either.
    let rights = CommonRights(attributes, try folder.accessList(), wanted: 5)
    described = try files.narrowing(rights).applied(
      to: attributes.view(inode: folder.inode, kind: .file, size: Bounds.sum(1024, files.size)))
  }

  var isEmpty: Bool { files.members.isEmpty }

  private static func files(
    of folder: any Item, _ extensions: Set<FileExtension>, _ patience: Patience
  ) throws(Fault) -> FileGroup {
    let listing = try folder.listing(patience)
    var members: [FileGroup.Member] = []
    var place: Int64 = 0
    while true {
      let entries = try listing.entries(after: place, patience)
      guard let last = entries.last else { break }
      place = last.next
      for entry in entries where entry.name.fileExtension.map({ extensions.contains($0) }) ?? false {
        try Interest.check()
        // A name that has just vanished is none.
        guard let member = try FileGroup.member(named: entry.name.fileName, in: folder, patience) else { continue }
        guard members.count < mostMembers else {
          throw Fault(.limit, "there are more than \(mostMembers) files to be merged")
        }
        members.append(member)
      }
    }
    return FileGroup(members.sorted { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) })
  }

  func revision(_ attributes: Attributes) -> UInt64 { files.state }
  /// Its mode says what all lists leave.
  func accessList() throws(Fault) -> AccessList? { nil }

  func soleOwner(_ attributes: Attributes) -> UInt32? { files.soleOwner }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { described }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    guard patience == .blocking else { throw .later }
    return try BundleSource(files.members)
  }

  var sourceState: UInt64 { folder.sourceState }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as it was.
    if folder.isImmutable { return }
    if patience == .immediate { throw .later }
    guard try Self.files(of: folder, extensions, patience).state == files.state else { throw .stale }
  }
}
