internal import Bytes
internal import Files

/// The files of a folder that go into one document, in the order of their names: what a merged file is made of.
///
/// Not the folders in it, nor what is neither a PDF nor an image by its name, nor raw photos. A link that stays in the folder
/// is the file that it leads to.
final class FolderBundle: Item {
  struct Member: Sendable {
    let name: FileName
    let item: any Item
    let attributes: Attributes
    /// The folders that a link passes on its way.
    let passed: [Found]

    /// Blocks. A fault says which file it is about.
    func open() throws(Fault) -> any ByteSource {
      do throws(Fault) {
        return try item.content(.blocking)
      } catch {
        if error.isDelay { throw error }
        throw Fault(error.kind, "\(name.text) \(error.reason)", atByte: error.offset)
      }
    }
  }

  private let folder: any Item
  private let described: Attributes
  let members: [Member]
  /// Of the names and all files' states.
  let state: UInt64
  var inode: UInt64 { folder.inode }
  var kind: Kind { .file }
  // What is made of the folder has the state that it was made of; `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// More files are not merged.
  private static let mostMembers = 65_536
  private static let extensions = PagesView.usual.union(RenditionView.images)

  init(_ folder: any Item, _ attributes: Attributes, _ patience: Patience) throws(Fault) {
    self.folder = folder
    members = try Self.members(of: folder, patience)
    state = Self.state(of: members)
    // Who may not list the folder, or reach what is in it, may not read it all at once either.
    var rights = CommonRights(attributes, try folder.accessList(), wanted: 5)
    for member in members {
      rights.narrow(to: CommonRights(member.attributes, try member.item.accessList(), wanted: 4))
      for folder in member.passed {
        rights.narrow(to: CommonRights(folder.attributes, try folder.item.accessList(), wanted: 1))
      }
    }
    described = rights.applied(
      to: attributes.view(
        inode: folder.inode, kind: .file, size: members.reduce(1024) { Bounds.sum($0, $1.attributes.size) }))
  }

  private static func members(of folder: any Item, _ patience: Patience) throws(Fault) -> [Member] {
    let listing = try folder.listing(patience)
    var members: [Member] = []
    var place: Int64 = 0
    while true {
      let entries = try listing.entries(after: place, patience)
      guard let last = entries.last else { break }
      place = last.next
      for entry in entries where entry.name.fileExtension.map({ extensions.contains($0) }) ?? false {
        try Interest.check()
        // A name that has just vanished is none.
        guard let (found, passed) = try file(named: entry.name.fileName, in: folder, patience) else { continue }
        guard members.count < mostMembers else {
          throw Fault(.limit, "there are more than \(mostMembers) files to be merged")
        }
        members.append(
          Member(name: entry.name.fileName, item: found.item, attributes: found.attributes, passed: passed))
      }
    }
    return members.sorted { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) }
  }

  /// What a name stands for, by links that do not leave the folder; nil where that is no file.
  private static func file(
    named name: FileName, in folder: any Item, _ patience: Patience
  ) throws(Fault) -> (Found, passed: [Found])? {
    var rest = [ArraySlice(name.bytes)]
    var place: [Found] = []
    var passed: [Found] = []
    var links = 0
    while let next = rest.popLast() {
      if next.elementsEqual(".".utf8) { continue }
      if next.elementsEqual("..".utf8) {
        guard place.popLast() != nil else { return nil }
        continue
      }
      guard let found = try (place.last?.item ?? folder).child(named: FileName(next), patience) else { return nil }
      switch found.attributes.kind {
      case .file: return rest.isEmpty ? (found, passed) : nil
      case .folder:
        place.append(found)
        passed.append(found)
      case .link:
        links += 1
        let target = try found.item.linkTarget(patience)
        guard links <= mostLinks, target.first != UInt8(ascii: "/") else { return nil }
        rest += target.split(separator: UInt8(ascii: "/")).reversed()
      default: return nil
      }
    }
    return nil
  }

  /// More are a loop, as to the system.
  private static let mostLinks = 40

  private static func state(of members: [Member]) -> UInt64 {
    var hash = StableHash()
    for member in members {
      hash.combine(member.name.bytes)
      hash.combine(member.item.revision(member.attributes))
    }
    return hash.value
  }

  func revision(_ attributes: Attributes) -> UInt64 { state }
  /// Its mode says what all lists leave.
  func accessList() throws(Fault) -> AccessList? { nil }

  func soleOwner(_ attributes: Attributes) -> UInt32? {
    let owners = Set(members.map { $0.item.soleOwner($0.attributes) })
    return owners.count == 1 ? owners.first ?? nil : nil
  }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { described }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    guard patience == .blocking else { throw .later }
    return try BundleSource(members)
  }

  var sourceState: UInt64 { folder.sourceState }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as it was.
    if folder.isImmutable { return }
    if patience == .immediate { throw .later }
    guard try Self.state(of: Self.members(of: folder, patience)) == state else { throw .stale }
  }
}
