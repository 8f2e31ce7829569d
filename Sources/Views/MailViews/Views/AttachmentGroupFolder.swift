internal import Bytes
internal import Tree

/// `NAME.views/by-attachment-type/` and the like: directories of attachments, named as in `attachments/`.
final class AttachmentGroupFolder: MailViewDirectory {
  let sorted: SortedMailbox
  private let sorting: AttachmentSorting
  /// The name of the group. Nil for the directory of the sorting itself.
  private let name: FileName?
  let place: UInt64
  /// Sizes are known only after decoding.
  var attributeCost: AttributeCost { name == nil ? .small : .large }

  init(_ sorted: SortedMailbox, _ sorting: AttachmentSorting, _ name: FileName? = nil) {
    self.sorted = sorted
    self.sorting = sorting
    self.name = name
    place = ViewPlace.of(sorting.rawValue, name?.bytes ?? [])
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let (list, groups) = try sorted.attachments(by: sorting, blocking)
    guard let group = self.name else {
      guard groups.group(named: name.bytes) != nil else { return nil }
      let folder = AttachmentGroupFolder(sorted, sorting, name)
      return LookupResult(folder, try folder.attributes(blocking))
    }
    guard let number = list.index(named: name), let own = groups.group(named: group.bytes),
      groups.contains(number, in: own)
    else { return nil }
    return try attachment(number, in: list, blocking)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    let (list, groups) = try sorted.attachments(by: sorting, blocking)
    if let name {
      return AttachmentListing(self, list, groups.group(named: name.bytes).map { groups.members($0) } ?? [])
    }
    return IndexedCursor(
      (0..<groups.count).map { group in
        let name = FileName(groups.name(group))
        return (name, AttachmentGroupFolder(sorted, sorting, name).inode, .folder)
      })
  }
}
