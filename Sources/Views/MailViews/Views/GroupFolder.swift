internal import Bytes
internal import Mail
internal import Tree

/// A directory of `NAME.views/` by date, sender, thread or label: subdirectories, and the directories of messages.
final class GroupFolder: MailViewDirectory {
  let sorted: SortedMailbox
  private let sorting: Sorting
  /// The path below the directory of the sorting. Empty for that directory.
  private let path: [UInt8]
  let place: UInt64

  private static let blockSize = 256

  init(_ sorted: SortedMailbox, _ sorting: Sorting, _ path: [UInt8] = []) {
    self.sorted = sorted
    self.sorting = sorting
    self.path = path
    place = ViewPlace.of(sorting.rawValue, path[...])
  }

  /// The length of the prefix of a group's name before the names in this directory, in bytes.
  private var depth: Int { path.isEmpty ? 0 : path.count + 1 }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let groups = try sorted.groups(sorting, blocking)
    if name.count > 0, !name.bytes.contains(0x2f) {
      let inner = path + (path.isEmpty ? [] : [0x2f]) + name.bytes
      if groups.group(named: inner[...]) != nil || !groups.below(inner[...]).isEmpty {
        let folder = GroupFolder(sorted, sorting, inner)
        return LookupResult(folder, try folder.attributes(blocking))
      }
    }
    guard let number = MessageRow.position(inFolderName: name), let group = groups.group(named: path[...]),
      let position = try sorted.mailbox.position(ofSerial: number, blocking),
      groups.contains(position, in: group)
    else { return nil }
    return try messageFolder(at: position, named: name, blocking)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    GroupListing(self, try sorted.groups(sorting, blocking))
  }

  /// A listing of the subdirectories, then the messages. Offsets below `below.count` are group indices relative to the
  /// first subdirectory.
  private final class GroupListing: DirectoryCursor {
    private let folder: GroupFolder
    private let groups: MessageGroups
    private let below: Range<Int>
    private let members: ArraySlice<UInt32>

    init(_ folder: GroupFolder, _ groups: MessageGroups) {
      self.folder = folder
      self.groups = groups
      // The root directory does not contain itself.
      let own = groups.group(named: folder.path[...])
      let all = groups.below(folder.path[...])
      below = folder.path.isEmpty && own == 0 ? 1..<all.upperBound : all
      members = own.map { groups.members($0) } ?? []
    }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      guard place >= 0 else { return [] }
      if place < Int64(below.count) {
        var entries: [ListedEntry] = []
        var next = below.lowerBound + Int(place)
        while next < below.upperBound, entries.count < GroupFolder.blockSize {
          let name = groups.component(of: next, behind: folder.depth)
          let inner = groups.name(next).prefix(folder.depth + name.count)
          next = groups.end(ofThoseSharing: inner.count, in: next..<below.upperBound)
          let inode = folder.sorted.file.inode(
            ViewPlace.folders ^ ViewPlace.of(folder.sorting.rawValue, inner))
          entries.append(
            ListedEntry(
              name: ListedName(FileName(name)), inode: inode, kind: .folder, next: Int64(next - below.lowerBound)))
        }
        return entries
      }
      let start = place - Int64(below.count)
      guard start < members.count else {
        try folder.sorted.mailbox.checkEnd()
        return []
      }
      let first = members.startIndex + Int(start)
      return try folder.entries(
        of: members[first...].prefix(GroupFolder.blockSize), next: place + 1, blocking)
    }
  }
}
