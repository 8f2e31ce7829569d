internal import Bytes
internal import Catalogue
internal import Files
internal import Jobs
internal import Tree

/// The files of a directory that are merged into one document, in the order of their names.
///
/// Excludes subdirectories, and files whose extension the document does not support. A link that stays in the directory
/// stands for the file it leads to.
final class FolderBundle: Item {
  private let folder: any Item
  private let described: Attributes
  private let source: Source
  private let conversions: Conversions
  private let extensions: Set<FileExtension>
  /// The conversions of files with some extensions to a format for the document, in order.
  private let steps: [FileExtension: [Conversion]]
  private let files: FileGroup
  /// Whether the document, or the remark on it, names the files that are missing in it.
  private let replacesFailures: Bool
  private let place = GatheringPlace()
  var inode: UInt64 { folder.inode }
  var kind: Kind { .file }
  // The item represents the directory's state that it was created from, which `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// The maximum number of files that are merged.
  private static let mostMembers = 65_536

  init(
    _ source: Source, for conversion: Conversion, _ conversions: Conversions, _ blocking: BlockingMode
  ) throws(Fault) {
    self.source = source
    self.conversions = conversions
    folder = source.item
    replacesFailures = ([.merged] + Conversion.joined).contains { $0.verb == conversion.verb }
    steps = conversions.catalogue.indirectSteps(to: conversion)
    extensions = conversion.sources.extensions.union(steps.keys)
    files = try Self.files(of: folder, extensions, blocking)
    // A caller without permission to list the directory, or to access its entries, may not read their content together.
    let rights = CommonRights(source.attributes, try folder.accessList(), wanted: 5)
    described = try files.narrowing(rights).applied(
      to: source.attributes.view(inode: folder.inode, kind: .file, size: Bounds.sum(1024, files.size)))
  }

  var isEmpty: Bool { files.members.isEmpty }

  private static func files(
    of folder: any Item, _ extensions: Set<FileExtension>, _ blocking: BlockingMode
  ) throws(Fault) -> FileGroup {
    let listing = try folder.listing(blocking)
    var members: [FileGroup.Member] = []
    var place: Int64 = 0
    while true {
      let entries = try listing.entries(after: place, blocking)
      guard let last = entries.last else { break }
      place = last.next
      for entry in entries where entry.name.fileExtension.map({ extensions.contains($0) }) ?? false {
        try CancellationToken.check()
        // A name that has just vanished is ignored.
        guard let member = try FileGroup.member(named: entry.name.fileName, in: folder, blocking) else { continue }
        guard members.count < mostMembers else {
          throw Fault(.limit, "it has more than \(mostMembers) files to merge")
        }
        members.append(member)
      }
    }
    return FileGroup(members.sorted { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) })
  }

  /// Returns a revision that includes the conversions of the files: for instance, other fonts result in other pages.
  func revision(_ attributes: Attributes) -> UInt64 {
    var hash = StableHash(seed: files.state)
    for member in files.members {
      for step in steps(for: member) { hash.combine(step.plainRecipe.description.utf8) }
    }
    return hash.value
  }

  private func steps(for member: FileGroup.Member) -> [Conversion] {
    member.name.fileExtension.flatMap { steps[$0] } ?? []
  }

  /// Returns `nil`: the mode already reflects all access lists.
  func accessList() throws(Fault) -> AccessList? { nil }

  func soleOwner(_ attributes: Attributes) -> UInt32? { files.soleOwner }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    guard blocking == .blocking else { throw .later }
    if files.members.allSatisfy({ steps(for: $0).isEmpty }), !replacesFailures || isReal {
      return try BundleSource(files.members)
    }
    var members: [FileGroup.Member] = []
    for member in files.members { members.append(try made(of: member)) }
    return try GatheredBundle(
      members, of: files.members.map(file(of:)), conversions.renditions, place, replacesFailures: replacesFailures)
  }

  /// Whether all files are real files. Files in archives can prove damaged when they are read.
  private var isReal: Bool { files.members.allSatisfy { !$0.item.isImmutable } }

  /// Returns a file in the form in which it is merged into the document.
  private func made(of member: FileGroup.Member) throws(Fault) -> FileGroup.Member {
    let steps = steps(for: member)
    if steps.isEmpty { return member }
    let made = try conversions.source(file(of: member), after: steps, .blocking)
    return FileGroup.Member(name: member.name, item: made.item, attributes: made.attributes)
  }

  /// Returns a file as a source of views, which is decrypted like every other one.
  private func file(of member: FileGroup.Member) -> Source {
    let path = FileName(source.name.bytes + Array("/".utf8) + member.name.bytes)
    var file = Source(item: member.item, attributes: member.attributes, name: path, folder: source.folder)
    file.decryption = source.decryption
    return file
  }

  var sourceState: UInt64 { folder.sourceState }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, blocking)
    // An immutable directory is unchanged.
    if folder.isImmutable { return }
    if blocking == .immediate { throw .later }
    guard try Self.files(of: folder, extensions, blocking).state == files.state else { throw .stale }
  }
}
